import { createHash, timingSafeEqual } from 'node:crypto';
import { API_HEADERS } from '../../http/response.ts';
import type { HttpResult } from './writeResult.ts';

/** By this the function knows a call that came by its own CloudFront, which adds it to each call. */
const ORIGIN_HEADER = 'x-origin-secret';

/** Tells whether a call may come in. @returns the refusal, or undefined */
export type OriginGuard = (headers: readonly (readonly [string, string])[]) => HttpResult | undefined;

const refusal: HttpResult = {
  statusCode: 403,
  headers: { ...API_HEADERS },
  body: JSON.stringify({ error: 'This address is not for clients: call the public one.' }),
  isBase64Encoded: false,
};

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/**
 * Makes the guard at the function's own door: behind an edge that counts calls and knows attacks, whoever finds the API's own address
 * would pass both by, and could claim any address in `X-Forwarded-For`. It asks no table.
 *
 * @param secrets - what the edge may send, each good by itself, so that one can follow another; none: everybody may come in
 */
export function createOriginGuard(secrets: readonly string[]): OriginGuard {
  const known = secrets.map(digestOf);
  // While a secret follows another, the edge may send both, as they are kept.
  const isKnown = (text: string) =>
    text.split(',').some((part) => known.some((digest) => timingSafeEqual(digest, digestOf(part.trim()))));
  return (headers) => {
    if (known.length === 0) return undefined;
    const given = headers.filter(([name]) => name.toLowerCase() === ORIGIN_HEADER);
    return given.length === 1 && given.every(([, value]) => isKnown(value)) ? undefined : refusal;
  };
}
