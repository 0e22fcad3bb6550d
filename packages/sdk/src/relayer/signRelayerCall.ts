import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { keccak256 } from 'viem/utils';
import type { OutgoingCall } from '../http/createTransport.ts';

/** Whoever signs relayer auth: a viem local account, or anything that signs EIP-191 personal messages. */
export interface MessageAccount {
  readonly address: string;
  signMessage(parameters: { readonly message: string }): Promise<string>;
}

/**
 * Signs a call as a relayer, at this moment: the gateway takes a signature for 5 minutes.
 *
 * @param relayer.account - its address must be on the gateway's whitelist
 * @param relayer.now - Unix time in milliseconds
 * @param call - as it goes out
 * @returns the three headers of relayer auth
 * @see docs/specification.md AUTH-2
 */
export async function signRelayerCall(
  relayer: { readonly account: MessageAccount; readonly now: () => number },
  call: OutgoingCall,
): Promise<Record<string, string>> {
  const timestamp = String(relayer.now());
  const { method, path, body } = call;
  const message = createRelayerAuthMessage({ timestamp, method, path, bodyHash: keccak256(body) });
  return {
    'x-relayer-address': relayer.account.address,
    'x-relayer-signature': await relayer.account.signMessage({ message }),
    'x-relayer-timestamp': timestamp,
  };
}
