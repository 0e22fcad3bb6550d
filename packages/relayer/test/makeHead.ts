import type { BlockHead } from '../src/chain/chainReader.ts';

/** A head of a chain on which gas costs next to nothing. */
export const HEAD: BlockHead = {
  ...{ number: 1n, timestamp: 1n, gasPrice: 1n, gasReserve: 1n, baseFeePerGas: 0n, tip: 1n },
  gasLimit: 30_000_000n,
  feeRecipient: `0x${'fe'.repeat(20)}`,
  prevRandao: `0x${'ab'.repeat(32)}`,
};

/** The state of that chain: nothing is reserved, all fees are the relayer's, and signatures hold for a thousand seconds. */
export const STATE = {
  head: async () => HEAD,
  policy: async () => ({ isOfficial: true, priorityWindow: 0n, maxAge: 1000n, shareBps: 10_000n }),
  seconds: async () => 101n,
  finalitySeconds: async () => 1n,
};
