import type { Account } from '@prism-gateway/crypto/accounts';
import type { Logger } from '@prism-gateway/runtime/logs';
import type { Tracer } from '@prism-gateway/runtime/tracing';
import type { RelayerClient } from '@prism-gateway/sdk';
import type { Sender } from '@prism-gateway/sender';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { NonceContext } from '../checks/findNonce.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { Metrics } from '../metrics/createMetrics.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { Settings } from '../settings/settings.ts';
import type { AskChain } from './askChain.ts';
import type { BearOut } from './createBearOut.ts';
import type { BearRefusal } from './createBearRefusal.ts';
import type { ReadExecuted } from './createExecutionWatch.ts';
import type { Health } from './createHealth.ts';
import type { KeyWatch } from './createKeyWatch.ts';
import type { SimulateTogether } from './createSimulateTogether.ts';
import type { RoundResult } from './pickClaims.ts';

/** What a chain is worked on with. */
export interface ChainOptions {
  readonly settings: Settings;
  readonly chain: ChainSettings;
  readonly account: Account;
  readonly client: RelayerClient;
  /** Called when the gateway answers again that did not answer. */
  readonly gatewayReturns: Set<() => void>;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  readonly wake: () => void;
  readonly signal: AbortSignal;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** What is opened for one chain. */
export interface ChainParts {
  readonly chain: ChainReader;
  readonly state: ChainState;
  readonly sender: Sender;
  readonly keyWatch: Pick<KeyWatch, 'isShared'>;
  readonly journal: Journal;
  /** Asks what became of a request, of as many nodes as it takes to believe them. */
  readonly askNodes: AskChain;
  /** Asks the other nodes whether a request would be refused as one of them says. */
  readonly bearRefusal: BearRefusal;
  /** Asks the other nodes whether a transaction is mined as one of them says. */
  readonly bearOut: BearOut;
  /** Simulates a transaction before it is sent, at as many nodes as it takes to believe them. */
  readonly simulateTogether: SimulateTogether;
  /** Looks whether a node is alone with what all requests are judged by. */
  readonly lookAtNodes: () => Promise<void>;
  /** Reads whose requests were carried out in some blocks. */
  readonly readExecuted: ReadExecuted;
  readonly recovery: NonceContext;
  readonly confirmations: number;
}

/** The work on requests of one chain. */
export interface Lifecycle {
  /** Goes on with everything that the journal holds open: after a start, before anything new is claimed. */
  resume(): void;
  /** Looks at the queue once. @throws GatewayError, ChainError @see runRound */
  round(): Promise<RoundResult>;
  /** Looks for claims that need somebody. @throws GatewayError, ChainError @see adoptClaims */
  adopt(): Promise<void>;
  /** Requests claimed, or being claimed, and not yet reported. */
  readonly size: number;
  /** Tells health and metrics what requests wait for. */
  look(): void;
  /** Resolves when no work runs. */
  idle(): Promise<void>;
  /** Notes that a transaction stands in a block, however deep: what its signers have signed next is in its turn. @param intentId - of the sender */
  noteMined(intentId: string): void;
  /** Notes a call that failed and ended a round. */
  noteFault(where: 'gateway' | 'chain' | 'journal'): void;
}
