import type { Hash, Hex } from 'viem';
import type { Market, NodeFaults } from '../chain.ts';
import type { Branches } from '../createBranches.ts';
import type { Executor } from '../evm/createExecutor.ts';
import type { Pool } from '../pool/createPool.ts';
import type { BlockRecord, SignedTransaction } from '../records.ts';
import type { WorldState } from '../state/createWorldState.ts';

/** The chain's part for the nodes. */
export interface NodePorts {
  readonly chainId: number;
  readonly branches: Branches;
  readonly world: WorldState;
  readonly executor: Executor;
  readonly pool: Pool;
  readonly gasLimit: bigint;
  readTransaction(raw: Hex): SignedTransaction;
  makeBloom(logs: BlockRecord['logs']): Hex;
  keccak256(bytes: Uint8Array): Uint8Array;
  nowSeconds(): number;
  nextBaseFee(): bigint;
  market(): Market;
}

/** The chain as one node sees it at the moment of a call. */
export interface NodeView {
  readonly head: BlockRecord;
  readonly faults: NodeFaults;
  readonly name: string;
  /** Transactions that wait in this node alone. */
  readonly own: Map<Hash, SignedTransaction>;
}

export type Params = readonly unknown[];
export type Method = (view: NodeView, params: Params) => unknown;
