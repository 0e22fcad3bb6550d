import { createTransport, RpcRequestError, type Transport } from 'viem';
import type { ChainNode } from './chain.ts';
import { RpcFailure } from './RpcFailure.ts';

/** Makes a transport of viem that asks a node directly: no network, and no waiting. */
export function createNodeTransport(node: Pick<ChainNode, 'request'>): Transport {
  return () =>
    createTransport({
      key: 'node',
      name: 'Simulated node',
      type: 'node',
      retryCount: 0,
      // The type of `request` depends on the method.
      request: (async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
        try {
          return await node.request(method, params);
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error;
          const { code, message, data } = error;
          throw new RpcRequestError({ body: { method }, url: 'simulated', error: { code, message, data } });
        }
      }) as never,
    });
}
