import { createPublicClient, http } from 'viem';

/** What reads the chain. */
export type ChainClient = ReturnType<typeof createChainClient>;

/**
 * Makes a client that reads the chain; questions asked at once go as one HTTP call.
 *
 * @param rpcUrl - of the development chain
 */
export function createChainClient(rpcUrl: string) {
  // 50 ms: a development chain has its block at once.
  return createPublicClient({
    transport: http(rpcUrl, { batch: { batchSize: 50 } }),
    pollingInterval: 50,
    cacheTime: 0,
  });
}
