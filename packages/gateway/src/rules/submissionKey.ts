import { hash } from 'node:crypto';
import type { StoredRequest } from '../ports/requestStore.ts';

/** Writes a JSON value with the keys of its objects in one order. What strings of params hold needs no quotes. */
function writeSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${key}:${writeSorted(inner)}`).join()}}`;
}

/** The facts that make two submissions the same. */
export interface SubmissionFacts extends Pick<StoredRequest, 'chainName' | 'action'> {
  /** Signer and signature are among them. */
  readonly params: { readonly timestamp: string };
}

/** Hex digits of a key that say when it was signed, and that are of its hash. */
const [TIME_DIGITS, HASH_DIGITS] = [8, 32];

/**
 * Makes the key by which a record of the same submission is found: same chain, action, signer, signature and params. Letter case of hex
 * digits and the order of keys make no difference. It begins with the time of the signature, so that what is posted together stands together
 * in an index: a page there for each request is a fifth of what storing it costs.
 *
 * @returns 40 hex digits, the last 32 of a SHA-256
 * @see docs/specification.md ONCE-1
 */
export function submissionKeyOf({ chainName, action, params }: SubmissionFacts): string {
  const time = (Number(params.timestamp) % 16 ** TIME_DIGITS).toString(16).padStart(TIME_DIGITS, '0');
  const text = `${chainName}\n${action}\n${writeSorted(params).toLowerCase()}`;
  return `${time}${hash('sha256', text, 'hex').slice(0, HASH_DIGITS)}`;
}
