import { hash } from 'node:crypto';
import type { StoredRequest } from './requestStore.ts';

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
  readonly params: object;
}

/**
 * Makes the key by which a record of the same submission is found: same chain, action, signer, signature and params. Letter case of hex
 * digits and the order of keys make no difference.
 *
 * @returns base64url of a SHA-256, 43 characters
 * @see docs/specification.md ONCE-1
 */
export function submissionKeyOf({ chainName, action, params }: SubmissionFacts): string {
  return hash('sha256', `${chainName}\n${action}\n${writeSorted(params).toLowerCase()}`, 'base64url');
}
