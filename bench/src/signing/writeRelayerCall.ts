import { writeHttp } from '../load/writeHttp.ts';
import type { KeyPair } from './createKeyPair.ts';
import { hashBody } from './hashBody.ts';
import type { SigningCrypto } from './loadSigningCrypto.ts';
import { emptyBodyHash, signRelayerCall } from './signRelayerCall.ts';

/** A call of a relayer, signed now. */
export interface SignedCall {
  readonly relayer: KeyPair;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** With its `?`; it is not signed. */
  readonly query?: string;
  /** JSON text, ASCII only. */
  readonly body?: string;
}

/**
 * Signs a relayer's call and writes it as bytes.
 *
 * @param crypto the curve and the hash
 * @param call what to ask, as whom
 * @returns the call
 */
export function writeRelayerCall(crypto: SigningCrypto, call: SignedCall): Buffer {
  const { relayer, method, path, query = '', body } = call;
  const bodyHash = body === undefined ? emptyBodyHash : hashBody(crypto.keccak256, body);
  const signed = { method, path, bodyHash, timestampMs: Date.now() };
  const headerLines = signRelayerCall(crypto, { relayer, call: signed });
  return writeHttp({ method, target: `${path}${query}`, headerLines, ...(body !== undefined && { body }) });
}
