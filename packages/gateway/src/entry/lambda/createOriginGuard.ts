import { createHash, timingSafeEqual } from 'node:crypto';
import { type ErrorBody, ROUTES } from '@prism-gateway/protocol';
import { API_HEADERS } from '../../http/response.ts';
import type { EventCall } from './readEvent.ts';
import type { HttpResult } from './writeResult.ts';

/** By this the function knows a call that came by its own CloudFront, which adds it to each call. */
const ORIGIN_HEADER = 'x-origin-secret';
/** In this it says who has called it, whatever the caller wrote there. */
const VIEWER_HEADER = 'x-viewer-address';

/** Whether a call may come in, and from whom it is. */
export type OriginGuard = (
  call: Pick<EventCall, 'method' | 'path' | 'headers' | 'peerAddress'>,
) => { readonly refusal: HttpResult } | { readonly peerAddress: string };

const refusal: HttpResult = {
  statusCode: 403,
  headers: { ...API_HEADERS },
  body: JSON.stringify({
    error: 'This address is not for clients: call the public one.',
    code: 'NOT_THE_PUBLIC_ADDRESS',
  } satisfies ErrorBody),
  isBase64Encoded: false,
};

/**
 * The feed alone may be read past the edge, which a relayer's polling would otherwise pay for by the call: it shows nothing before a
 * whitelisted relayer's signature is proved, and its failures are counted by the address that Lambda itself saw.
 */
const isFeed = ({ method, path }: Pick<EventCall, 'method' | 'path'>) =>
  method === ROUTES.feedRequests.method && path === ROUTES.feedRequests.path;

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/**
 * Makes the guard at the function's own door: behind an edge that counts calls and knows attacks, whoever finds the API's own address
 * would pass both by, and could claim to be anybody. It asks no table.
 *
 * @param secrets - what the edge may send, each good by itself, so that one can follow another; none: everybody may come in
 */
export function createOriginGuard(secrets: readonly string[]): OriginGuard {
  const known = secrets.map(digestOf);
  // While a secret follows another, the edge may send both, as they are kept.
  const isKnown = (text: string) =>
    text.split(',').some((part) => known.some((digest) => timingSafeEqual(digest, digestOf(part.trim()))));
  return ({ method, path, headers, peerAddress }) => {
    if (known.length === 0) return { peerAddress };
    const given = headers.filter(([name]) => name.toLowerCase() === ORIGIN_HEADER);
    if (given.length === 0 && isFeed({ method, path })) return { peerAddress };
    if (given.length !== 1 || !given.every(([, value]) => isKnown(value))) return { refusal };
    const [, viewer] = headers.find(([name]) => name.toLowerCase() === VIEWER_HEADER) ?? [];
    return { peerAddress: viewer ?? peerAddress };
  };
}
