import type { KeyPair } from './createKeyPair.ts';
import type { SigningCrypto } from './loadSigningCrypto.ts';

/** One call as a relayer signs it. */
export interface RelayerCall {
  readonly method: 'GET' | 'PATCH' | 'POST';
  /** Without the query. */
  readonly path: string;
  /** `0x` and the lower-case hex keccak-256 of the body's bytes. */
  readonly bodyHash: string;
  /** Milliseconds since the epoch. */
  readonly timestampMs: number;
}

/** Hash of no body at all. */
export const emptyBodyHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

/**
 * Writes the three headers by which a relayer shows who it is, each line ended by CR LF.
 *
 * @param crypto the curve and the hash
 * @param params the relayer's key and the call
 * @returns the header lines
 * @see docs/specification.md AUTH-2; EIP-191
 */
export function signRelayerCall(
  crypto: SigningCrypto,
  params: { readonly relayer: KeyPair; readonly call: RelayerCall },
): string {
  const { relayer, call } = params;
  const message = `Service Relayer Auth\nTimestamp: ${call.timestampMs}\nMethod: ${call.method}\nPath: ${call.path}\nBody: ${call.bodyHash}`;
  // All of it is ASCII, so its length in characters is its length in bytes.
  const digest = crypto.keccak256(`\x19Ethereum Signed Message:\n${message.length}${message}`);
  const { hex, recovery } = crypto.signDigest(digest, relayer.privateKey);
  const v = recovery === 0 ? '1b' : '1c';
  return `X-Relayer-Address: ${relayer.address}\r\nX-Relayer-Signature: 0x${hex}${v}\r\nX-Relayer-Timestamp: ${call.timestampMs}\r\n`;
}
