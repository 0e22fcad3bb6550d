import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import type { HttpCall } from '@prism-gateway/testing';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A call's differences from a plain GET. */
export interface CallFacts {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
  /** Default `application/json` with a body; null: none. */
  readonly contentType?: string | null;
}

/** Who signs a call as a relayer. */
export interface RelayerKey {
  readonly privateKey: `0x${string}`;
}

/** Makes a call with the headers that every client sends. */
export function makeCall({ method = 'GET', target, headers = [], body = '', contentType }: CallFacts): HttpCall {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const type = contentType === undefined ? 'application/json' : contentType;
  return {
    method,
    target,
    body: bytes,
    peerAddress: '127.0.0.1',
    headers: [
      ['Host', 'gateway.example.org'],
      ...(bytes.byteLength > 0 ? [['Content-Length', String(bytes.byteLength)] as const] : []),
      ...(bytes.byteLength > 0 && type !== null ? [['Content-Type', type] as const] : []),
      ...headers,
    ],
  };
}

/** Signs a call as a relayer does: over the path that the service routes. */
export async function signCall(
  relayer: RelayerKey,
  facts: CallFacts & { readonly signedPath?: string },
): Promise<HttpCall> {
  const account = privateKeyToAccount(relayer.privateKey);
  const call = makeCall(facts);
  const timestamp = String(Date.now());
  const path = facts.signedPath ?? call.target.split('?')[0] ?? '';
  const message = createRelayerAuthMessage({ timestamp, method: call.method, path, bodyHash: keccak256(call.body) });
  return {
    ...call,
    headers: [
      ...call.headers,
      ['X-Relayer-Address', account.address],
      ['X-Relayer-Timestamp', timestamp],
      ['X-Relayer-Signature', await account.signMessage({ message })],
    ],
  };
}
