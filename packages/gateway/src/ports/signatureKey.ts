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

/** The halves of a signature where params have them; of a batch, of each of its entries. */
interface SignedParams {
  readonly r?: unknown;
  readonly s?: unknown;
  readonly requests?: unknown;
}

/** A request as far as its signature tells it from others. */
export interface SignedRequest {
  readonly chainName: string;
  readonly signer: string;
  readonly params: SignedParams;
}

/**
 * Makes the key of a request's signature. A batch of many users has no signature of its own: those of its entries tell it.
 *
 * @returns the key, or undefined where there is no signature
 * @see docs/specification.md ONCE-1
 */
export function signatureKeyOf({ chainName, signer, params }: SignedRequest): string | undefined {
  const signed: readonly SignedParams[] = Array.isArray(params.requests) ? params.requests : [params];
  if (signed.some(({ r, s }) => typeof r !== 'string' || typeof s !== 'string')) return undefined;
  const [r, s] = [signed.map((one) => one.r).join(), signed.map((one) => one.s).join()];
  return createSignatureKey({ chainName, signer, r, s });
}
