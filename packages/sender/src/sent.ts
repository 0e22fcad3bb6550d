import type { Hash, Log } from 'viem';

/** The outcome of an intent: its one mined transaction. */
export interface Sent {
  readonly intentId: string;
  readonly txHash: Hash;
  /** The account nonce. */
  readonly nonce: number;
  /** `reverted` is an outcome, too: the transaction is mined, and its call had no effect. */
  readonly status: 'success' | 'reverted';
  readonly blockNumber: bigint;
  readonly blockHash: Hash;
  readonly gasUsed: bigint;
  /** In wei. */
  readonly effectiveGasPrice: bigint;
  /** What was paid beside the gas for the data, in wei: on OP-stack chains. */
  readonly dataFee: bigint;
  readonly logs: readonly Log[];
}
