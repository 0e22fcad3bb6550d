import type { RecoverSigner } from '@prism-gateway/node/accounts';
import type { Sender } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ReadRpc } from '../chain/createChainRpc.ts';
import type { BlockRange } from '../chain/createWalkBack.ts';
import type { FindExecution, FindFirstUse, FindInvalidation } from '../chain/findExecution.ts';
import type { Execution } from '../chain/readExecutions.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { Events } from '../events/events.ts';
import type { PendingQueue } from '../gateway/createFeedQueue.ts';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { AskedNode } from '../nodes/askNodes.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { Candidates } from './candidates.ts';
import type { InFlight } from './inFlight.ts';

/** A node of the chain by itself, and what it is asked for. */
export interface RelayNode extends AskedNode {
  readonly rpc: ReadRpc;
  readonly reader: ChainReader;
  readonly findExecution: FindExecution;
  readonly findInvalidation: FindInvalidation;
  readonly findFirstUse: FindFirstUse;
  /** Whether its newest block has been the same for long. @param head - its newest block */
  readonly isStuck: (head: bigint) => boolean;
  /** Until when it is not asked for a simulation, in milliseconds of the clock that is never set. */
  readonly silence: { untilMs: number };
}

/** The chain, as it is read and written. */
export interface RelayerChain {
  readonly chainId: number;
  /** Address of the Forwarder. */
  readonly forwarder: Hex;
  /** The relayer's own address, in lower case. */
  readonly relayer: Hex;
  readonly recoverSigner: RecoverSigner;
  /** Asks the first node that answers. */
  readonly reader: ChainReader;
  /** The chain's state, read a moment ago. */
  readonly state: ChainState;
  /** Each by itself. */
  readonly nodes: readonly RelayNode[];
  readonly sender: Sender;
  /** Reads whose requests were carried out in some blocks. @throws ChainError */
  readonly readExecuted: (range: BlockRange) => Promise<readonly Pick<Execution, 'signer' | 'relayer'>[]>;
  /** Whether another process used the key a moment ago: it may own claims that are missing from our journal. */
  readonly isKeyShared: () => boolean;
}

/** The gateway's requests, as they are listed, claimed and reported. */
export interface RelayerGateway extends RequestGateway {
  readonly queue: PendingQueue;
  /** The pending requests that are known. */
  readonly candidates: Candidates;
}

/** Settings of the chain, with what follows from its id. */
export interface ChainPolicy extends RelayPolicy, ChainSettings {
  /** Blocks that finalize a transaction, the including one counted. */
  readonly confirmations: number;
}

/** All that the work on the requests of one chain goes by. */
export interface RelayerContext {
  readonly chain: RelayerChain;
  readonly gateway: RelayerGateway;
  readonly journal: Journal;
  readonly inFlight: InFlight;
  readonly policy: ChainPolicy;
  readonly events: Events;
  /** Unix milliseconds, by the machine's clock, which may be set meanwhile. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set: how long something takes. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
  /** Has the queue looked at now rather than after the pause. */
  readonly wake: () => void;
  /** Takes requests on from where the journal has them: the way from a step to the next one. @see advanceRequests */
  readonly advance: (requestIds: readonly string[]) => void;
  /** Ends all work. */
  readonly signal: AbortSignal;
}
