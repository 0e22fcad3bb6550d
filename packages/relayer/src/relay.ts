import type { RecoverSigner } from '@prism-gateway/crypto/accounts';
import type { RelayerClient } from '@prism-gateway/sdk';
import type { Sender } from '@prism-gateway/sender';
import type { Logger } from 'pino';
import type { ChainReader } from './chain/chainReader.ts';
import type { FindExecution } from './chain/findExecution.ts';
import type { ChainState } from './chain/watchChain.ts';
import type { Journal } from './journal/openJournal.ts';
import type { Metrics } from './metrics/createMetrics.ts';
import type { Candidates } from './queue/candidates.ts';
import type { Pace } from './queue/pace.ts';
import type { ChainSettings } from './settings/chainSettings.ts';
import type { RelayPolicy } from './settings/settings.ts';
import type { Desk } from './work/desk.ts';
import type { BatchThrift } from './work/gatherWrites.ts';

/** All that the work on one chain needs. */
export interface Relay {
  readonly chainId: number;
  readonly settings: ChainSettings & { readonly confirmations: number };
  readonly policy: RelayPolicy;
  readonly gateway: RelayerClient;
  readonly chain: ChainReader;
  readonly findExecution: FindExecution;
  /** What is known of the chain, kept fresh. */
  readonly state: ChainState;
  readonly sender: Sender;
  readonly journal: Journal;
  /** What is being worked on. */
  readonly desk: Desk;
  /** What could be claimed. */
  readonly candidates: Candidates;
  readonly pace: Pace;
  readonly thrift: BatchThrift;
  readonly recoverSigner: RecoverSigner;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Has the queue looked at now rather than after the pause. */
  readonly wake: () => void;
  /** Ends all waiting: what is open goes on at the next start. */
  readonly signal: AbortSignal;
}
