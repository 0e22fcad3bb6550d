import { isJournalFault } from '@prism-gateway/alerts';
import type { Hex } from 'viem';
import { type Budgets, createBudgets } from '../budgets/createBudgets.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { type CheckRequests, checkRequests } from '../checks/checkRequests.ts';
import { type FindSignatures, findSignatures } from '../checks/findNonce.ts';
import { type ProveSignatures, proveSignatures } from '../checks/proveSignatures.ts';
import { readWallet } from '../checks/readWallet.ts';
import { type FindExpiry, findExpiry, type ScreenRequests, screenRequests } from '../checks/screenRequests.ts';
import { createQueue } from '../gateway/createQueue.ts';
import { createQueueCalls } from '../gateway/createQueueCalls.ts';
import { createRequestGateway } from '../gateway/createRequestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import { type AdoptPorts, adoptClaims } from './adoptClaims.ts';
import { advanceRequests, type Handlers, traceHandlers } from './advanceRequests.ts';
import type { ChainOptions, ChainParts, Lifecycle } from './chainWork.ts';
import { confirmClaim } from './confirmClaim.ts';
import { createCandidates, createRequestCounts } from './createCandidates.ts';
import { type ChainNotes, createChainNotes } from './createChainNotes.ts';
import { createClaimRateController } from './createClaimRateController.ts';
import { createExecutionWatch } from './createExecutionWatch.ts';
import { createInFlight, type InFlight } from './createInFlight.ts';
import { createJudgeWatch } from './createJudgeWatch.ts';
import { createRefusalWatch } from './createRefusalWatch.ts';
import { followSubmission } from './followSubmission.ts';
import { createBatchCostTracker } from './gatherWrites.ts';
import type { OpenRequest } from './openRequest.ts';
import { type PickPorts, pickClaims } from './pickClaims.ts';
import { reportOutcomes } from './reportOutcomes.ts';
import { reviewClaim } from './reviewClaim.ts';
import { countRoom, type RoundPorts, runRound } from './runRound.ts';
import { submitClaims } from './submitClaims.ts';

/** Gives each file of the lifecycle what it goes through, and no more. */
export function createLifecycle(options: ChainOptions, parts: ChainParts): Lifecycle {
  const { settings: all, chain: settings, client, gatewayReturns, metrics, health, logger: log, ...rest } = options;
  const { now, random, wake, signal, tracer } = rest;
  const { policy } = all;
  const { chain, state, sender, keyWatch, journal, askNodes, bearRefusal, bearOut, recovery, confirmations } = parts;
  const { simulateTogether, readExecuted } = parts;
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
    if (isJournalFault(error)) {
      notes.fault('journal');
      return log.error({ reason: error.message }, 'the journal fails');
    }
    notes.fault('work');
    log.error({ err: error }, 'work on requests failed');
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
  const screen: ScreenRequests = (records) => screenRequests(checks, records);
  const prove: ProveSignatures = (wanted) => proveSignatures(checks, wanted);
  const expiry: FindExpiry = (record) => findExpiry({ state }, record);
  const signatures: FindSignatures = (record) => findSignatures({ chain, recovery }, record);
  const questions = { askChain: askNodes, check, findExpiry: expiry, findSignatures: signatures };

  const advance = (requestIds: readonly string[]) =>
    advanceRequests({ journal, inFlight, handlers, notes, signal }, requestIds);
  const held = { journal, inFlight, notes, advance, ...clock };
  const moves: Handlers = {
    confirmClaim: (requests) => confirmClaim({ ...held, gateway, relayer }, requests),
    submitClaims: (requests) =>
      submitClaims({ ...held, chain, simulateTogether, state, batchCosts, policy, settings }, requests),
    reviewClaim: (requests) => reviewClaim({ ...held, ...questions, gateway, recovery, policy, bearRefusal }, requests),
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
  const queue = createQueue({ ...held, calls, client, gatewayReturns, gateway, candidates, chainName, gasPrice, wake });
  const isCustomer = (signer: string) => journal.isCustomer(signer.toLowerCase());
  const counts = createRequestCounts({ candidates, view: journal.view, now });
  const refusals = createRefusalWatch({ health, isCustomer, hasCustomers: journal.hasCustomers, now });
  const room = { ...held, chain, state, settings, sender };
  const shared = { queue, countRoom: () => countRoom(room) };
  const claiming = { ...held, queue, gateway, budgets, candidates, claimRate };
  const picking: PickPorts = { ...held, ...shared, settings, isCustomer, claiming, turn: { last: Promise.resolve() } };
  const rounds: RoundPorts = {
    ...shared,
    judging: {
      ...held,
      ...{
        screen,
        check,
        prove,
        candidates,
        policy,
        gateway,
        recovery,
        noteFailures,
        counts,
        refusals,
        isCustomer,
        wake,
      },
      strangers: { requestIds: new Set(), last: Promise.resolve(), isShared: false, fault: undefined },
      news: queue.news,
      noteUnjudged: (reason) => health.noteFailure('judge', reason),
      pickClaims: (seen) => pickClaims(picking, seen),
    },
  };
  const lookForExecutions = createExecutionWatch({ ...held, state, readExecuted, relayer, candidates, wake });
  const takingOver = { ...held, ...questions, gateway, policy, settings };
  const adopting: AdoptPorts = { ...held, ...questions, gateway, relayer, takingOver, isKeyShared: keyWatch.isShared };
  return {
    resume: () => resumeOpen({ ...held, budgets, state }),
    round() {
      inFlight.run(lookForExecutions());
      return runRound(rounds);
    },
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
    look() {
      refusals.look();
      counts.refresh();
      notes.requests(counts.current());
    },
    idle: () => inFlight.idle(),
    noteFault: (where) => notes.fault(where),
  };
}

interface ResumePorts {
  readonly journal: Pick<Journal, 'open'>;
  readonly inFlight: Pick<InFlight, 'take' | 'run'>;
  readonly budgets: Pick<Budgets, 'resume'>;
  readonly state: Pick<ChainState, 'head'>;
  readonly notes: Pick<ChainNotes, 'log'>;
  /** Takes requests on from where the journal has them. */
  readonly advance: (requestIds: readonly string[]) => void;
}

/** What was under way before a restart is still at stake. */
async function resumeStakes({ budgets, state }: ResumePorts, open: readonly OpenRequest[]): Promise<void> {
  // Without a price nothing is claimed either.
  const { gasPrice } = await state.head().catch(() => ({ gasPrice: 0n }));
  for (const { requestId, signatures, gas = 0n } of open) {
    budgets.resume({ requestId, signatures }, { wei: gas * gasPrice, gift: 0n });
  }
}

/** Goes on with everything that the journal holds open: after a start, before anything new is claimed. */
function resumeOpen(ports: ResumePorts): void {
  const { journal, inFlight, notes, advance } = ports;
  const open = journal.open();
  if (open.length > 0) notes.log.info({ open: open.length }, 'going on with open requests');
  for (const request of open) inFlight.take(request);
  inFlight.run(resumeStakes(ports, open));
  advance(open.map(({ requestId }) => requestId));
}
