import type { Account } from '@prism-gateway/crypto/accounts';
import type { Logger } from '@prism-gateway/runtime/logs';
import type { Tracer } from '@prism-gateway/runtime/tracing';
import type { RelayerClient } from '@prism-gateway/sdk';
import type { Sender } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { type Budgets, createBudgets } from '../budgets/createBudgets.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { type CheckRequests, checkRequests } from '../checks/checkRequests.ts';
import { type FindExpiry, findExpiry } from '../checks/findExpiry.ts';
import type { NonceContext } from '../checks/findNonce.ts';
import { type FindSignatures, findSignatures } from '../checks/findSignatures.ts';
import { readWallet } from '../checks/readWallet.ts';
import { createQueue } from '../gateway/createQueue.ts';
import { createQueueCalls } from '../gateway/createQueueCalls.ts';
import { createRequestGateway } from '../gateway/createRequestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { Metrics } from '../metrics/createMetrics.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { Settings } from '../settings/settings.ts';
import { type AdoptPorts, adoptClaims } from './adoptClaims.ts';
import { advanceRequests, type Handlers } from './advanceRequests.ts';
import type { AskChain } from './askChain.ts';
import type { TrustHead } from './askNodes.ts';
import { confirmClaim } from './confirmClaim.ts';
import { createBatchCostTracker } from './createBatchCostTracker.ts';
import type { BearOut } from './createBearOut.ts';
import { createCandidates } from './createCandidates.ts';
import { createChainNotes } from './createChainNotes.ts';
import { createClaimRateController } from './createClaimRateController.ts';
import type { Health } from './createHealth.ts';
import { createInFlight } from './createInFlight.ts';
import { createJudgeWatch } from './createJudgeWatch.ts';
import { followSubmission } from './followSubmission.ts';
import type { OpenRequest } from './openRequest.ts';
import { type PickPorts, pickClaims, type RoundResult } from './pickClaims.ts';
import { reportOutcomes } from './reportOutcomes.ts';
import { reviewClaim } from './reviewClaim.ts';
import { countRoom, type RoundPorts, runRound } from './runRound.ts';
import { submitClaims } from './submitClaims.ts';
import { traceHandlers } from './traceHandlers.ts';

/** What a chain is worked on with. */
export interface ChainOptions {
  readonly settings: Settings;
  readonly chain: ChainSettings;
  readonly account: Account;
  readonly client: RelayerClient;
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
  /** Resolves when no work runs. */
  idle(): Promise<void>;
  /** Notes that a transaction stands in a block, however deep: what its signers have signed next is in its turn. @param intentId - of the sender */
  noteMined(intentId: string): void;
  /** Notes a call that failed and ended a round. */
  noteFault(where: 'gateway' | 'chain'): void;
}

/** What is opened for one chain. */
export interface ChainParts {
  readonly chain: ChainReader;
  readonly state: ChainState;
  readonly sender: Sender;
  readonly journal: Journal;
  /** Asks what became of a request, of as many nodes as it takes to believe them. */
  readonly askNodes: AskChain;
  readonly trustHead: TrustHead;
  /** Asks the other nodes whether a transaction is mined as one of them says. */
  readonly bearOut: BearOut;
  readonly recovery: NonceContext;
  readonly confirmations: number;
}

/** What was under way before a restart is still at stake. */
async function resumeStakes(
  open: readonly OpenRequest[],
  { budgets, state }: { readonly budgets: Budgets; readonly state: Pick<ChainState, 'head'> },
): Promise<void> {
  // Without a price nothing is claimed either.
  const { gasPrice } = await state.head().catch(() => ({ gasPrice: 0n }));
  for (const { requestId, signatures, gas = 0n } of open) {
    budgets.resume({ requestId, signatures }, { wei: gas * gasPrice, gift: 0n });
  }
}

/** Gives each file of the lifecycle what it goes through, and no more. */
export function createLifecycle(options: ChainOptions, parts: ChainParts): Lifecycle {
  const { settings: all, chain: settings, client, metrics, health, logger: log, ...rest } = options;
  const { now, random, wake, signal, tracer } = rest;
  const { policy } = all;
  const { chain, state, sender, journal, askNodes, trustHead, bearOut, recovery, confirmations } = parts;
  const { relayer } = chain;
  const { chainName } = settings;
  const notes = createChainNotes({ metrics, chainName, log });
  const budgets = createBudgets({
    journal,
    limits: policy.lossLimits,
    now,
    onExceeded(exceeded) {
      journal.noteExceeded(exceeded);
      notes.exceeded(exceeded);
    },
  });
  const inFlight = createInFlight((error) => {
    notes.fault('work');
    log.error({ err: error }, 'work on a request failed; it goes on at the next start');
  }, budgets.release);
  const candidates = createCandidates();
  const claimRate = createClaimRateController();
  const batchCosts = createBatchCostTracker();
  const calls = createQueueCalls({ client, chainName, signal });
  const gateway = createRequestGateway({ client, calls, chainName, notes, now, signal });
  const clock = { now, random, signal };

  const readSignerWallet = (signer: Hex) => readWallet(chain, signer);
  const checks = { chain, state, policy, settings, recovery, budgets, readWallet: readSignerWallet, now };
  const check: CheckRequests = (wanted) => checkRequests(checks, wanted);
  const expiry: FindExpiry = (record) => findExpiry({ state }, record);
  const signatures: FindSignatures = (record) => findSignatures({ chain, recovery }, record);
  const questions = { askChain: askNodes, check, findExpiry: expiry, findSignatures: signatures };

  const advance = (requestIds: readonly string[]) => advanceRequests({ journal, inFlight, handlers }, requestIds);
  const held = { journal, inFlight, notes, advance, ...clock };
  const moves: Handlers = {
    confirmClaim: (requests) => confirmClaim({ ...held, gateway, relayer }, requests),
    submitClaims: (requests) => submitClaims({ ...held, chain, state, batchCosts, policy, settings }, requests),
    reviewClaim: (requests) => reviewClaim({ ...held, ...questions, gateway, policy, trustHead }, requests),
    followSubmission: (requests) =>
      followSubmission(
        {
          ...held,
          ...questions,
          ...{ sender, chain, state, settings, recovery, budgets, batchCosts, confirmations, bearOut },
        },
        requests,
      ),
    reportOutcomes: (requests) => reportOutcomes({ ...held, gateway, candidates, wake }, requests),
  };

  const handlers = traceHandlers(moves, tracer);

  const noteFailures = createJudgeWatch({ chain, state, health });
  const gasPrice = async () => (await state.head()).gasPrice;
  const queue = createQueue({ ...held, calls, client, gateway, candidates, chainName, gasPrice, wake });
  const isCustomer = (signer: string) => journal.isCustomer(signer.toLowerCase());
  const room = { ...held, chain, state, settings };
  const shared = { queue, countRoom: () => countRoom(room) };
  const claiming = { ...held, gateway, budgets, candidates, claimRate };
  const picking: PickPorts = { ...held, ...shared, settings, isCustomer, claiming, turn: { last: Promise.resolve() } };
  const rounds: RoundPorts = {
    ...shared,
    judging: {
      ...held,
      ...{ check, candidates, policy, gateway, recovery, noteFailures, isCustomer },
      noteUnjudged: (reason) => health.noteFailure('judge', reason),
      pickClaims: (seen) => pickClaims(picking, seen),
    },
  };
  const takingOver = { ...held, ...questions, gateway, policy, settings };
  const adopting: AdoptPorts = { ...held, ...questions, gateway, relayer, takingOver };
  return {
    resume() {
      const open = journal.open();
      if (open.length > 0) log.info({ open: open.length }, 'going on with open requests');
      for (const request of open) inFlight.take(request);
      inFlight.run(resumeStakes(open, { budgets, state }));
      advance(open.map(({ requestId }) => requestId));
    },
    round: () => runRound(rounds),
    adopt: () => adoptClaims(adopting),
    get size() {
      return inFlight.size;
    },
    noteMined(intentId) {
      const requests = journal.submission(intentId)?.requestIds.map((requestId) => journal.get(requestId)) ?? [];
      const signers = requests.flatMap((request) => request?.signatures.map(({ signer }) => signer) ?? []);
      for (const signer of new Set(signers)) candidates.touch(signer);
      wake();
    },
    idle: () => inFlight.idle(),
    noteFault: (where) => notes.fault(where),
  };
}
