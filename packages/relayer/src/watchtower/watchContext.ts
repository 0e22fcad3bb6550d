import type { Alerter } from '@prism-gateway/node/alerts';
import type { Hex } from 'viem';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import type { CheckFinding } from './createFindingCheck.ts';
import type { QueueUpdate } from './createQueueLook.ts';
import type { SeenHead, StoredExecution } from './journal/openSeenChain.ts';
import type { WatchJournal } from './journal/openWatchJournal.ts';
import type { ChainUpdate } from './readChainUpdate.ts';
import type { Holders } from './readHolders.ts';

/** The parts of a watch over one chain. */
export interface WatchOptions {
  readonly rpc: ReadRpc;
  readonly chainId: number;
  readonly forwarder: Hex;
  readonly confirmations: bigint;
  readonly leaseSeconds: bigint;
  /** How long the Forwarder takes a signature, in seconds. */
  readonly maxAge: bigint;
  readonly journal: WatchJournal;
  readonly alerter: Pick<Alerter, 'raise'>;
  /** Whether nodes confirm a finding. */
  readonly checkFinding: CheckFinding;
  readonly lookAtQueue: () => Promise<QueueUpdate>;
  readonly lookAtChain: (seen: readonly SeenHead[], since: { readonly sinceSeconds: bigint }) => Promise<ChainUpdate>;
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicNow: () => number;
}

/** The reads of a look; the writing needs nothing else. */
export interface Reading extends Holders {
  readonly queue: QueueUpdate;
  readonly chain: ChainUpdate;
  /** Executions in the transactions that reports name. */
  readonly namedExecutions: readonly StoredExecution[];
}
