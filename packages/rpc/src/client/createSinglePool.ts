import type { RpcClient } from './rpcClient.ts';
import type { RpcPool } from './rpcPool.ts';

/**
 * Makes a pool of one node: nobody takes its place, whatever it says.
 *
 * @param client - the way to the node
 * @returns the pool
 */
export function createSinglePool(client: RpcClient): RpcPool {
  return {
    ...client,
    size: 1,
    askEach: async (method, params) => [{ node: 0, answer: await client.request(method, params) }],
    distrust: () => undefined,
  };
}
