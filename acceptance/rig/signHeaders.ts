import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Relayer } from './target.ts';

/** The fields that a relayer signs, and the time. */
export interface SignedFields {
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** Text of `X-Relayer-Timestamp`. */
  readonly timestamp: string;
}

/** The five lines, written here a second time: the tests do not take the protocol's word for them. */
export function writeAuthMessage({ method, path, body, timestamp }: SignedFields): string {
  return `Service Relayer Auth\nTimestamp: ${timestamp}\nMethod: ${method}\nPath: ${path}\nBody: ${keccak256(body)}`;
}

/**
 * Makes the three headers of relayer auth, with viem's signature.
 *
 * @see docs/specification.md AUTH-2
 */
export async function signHeaders(relayer: Relayer, fields: SignedFields): Promise<Record<string, string>> {
  const message = writeAuthMessage(fields);
  return {
    'x-relayer-address': relayer.address,
    'x-relayer-signature': await privateKeyToAccount(relayer.privateKey).signMessage({ message }),
    'x-relayer-timestamp': fields.timestamp,
  };
}

/** The gateway's clock, as text of `X-Relayer-Timestamp`. */
export function timestampNow(target: { readonly clockAheadMs: number }): string {
  return String(Date.now() + target.clockAheadMs);
}
