import { hash } from 'node:crypto';

/** What tells one signature from another. */
export interface SignatureFacts {
  readonly chainName: string;
  readonly signer: string;
  /** `0x` and hex digits. */
  readonly r: string;
  readonly s: string;
}

/**
 * Makes the key by which a record is found that carries the same signature for the same chain; letter case of hex digits does not tell
 * them apart.
 *
 * @returns base64url of a SHA-256, 43 characters
 * @see docs/specification.md ONCE-1
 */
export function createSignatureKey({ chainName, signer, r, s }: SignatureFacts): string {
  return hash('sha256', `${chainName}\n${`${signer}\n${r}\n${s}`.toLowerCase()}`, 'base64url');
}
