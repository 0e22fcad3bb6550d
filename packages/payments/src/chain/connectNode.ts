import { createBackOff } from '@prism-gateway/node';
import { createRpcClient, createRpcTransport, withRetries } from '@prism-gateway/node/rpc';
import type { Transport } from 'viem';

/** Pauses between the attempts of one call, in milliseconds. */
const PAUSES = { firstMs: 150, maxMs: 2000 };

/**
 * Makes the way to a node. No error of it names the node's URL, which may hold a key.
 *
 * @param node.rpcUrl - over http or https
 * @param node.timeoutMs - for one exchange
 * @param node.attempts - most attempts of a call that gets no answer; only what asks may be repeated
 * @param node.signal - ends the pauses between attempts
 * @returns a transport for clients of viem
 */
export function connectNode(node: {
  readonly rpcUrl: string;
  readonly timeoutMs: number;
  readonly attempts: number;
  readonly signal: AbortSignal;
}): Transport {
  const { rpcUrl, timeoutMs, attempts, signal } = node;
  const client = createRpcClient({ rpcUrl, timeoutMs });
  const createPauses = () => createBackOff({ ...PAUSES, random: Math.random, signal });
  return createRpcTransport(withRetries(client, { attempts, createBackOff: createPauses }));
}
