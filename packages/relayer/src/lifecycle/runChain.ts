import { setTimeout as sleep } from 'node:timers/promises';
import { isJournalFault } from '@prism-gateway/node/alerts';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { ruleOf } from '../checks/leaveReasons.ts';
import type { JournalView } from '../journal/createJournalView.ts';
import { createNodeComparison } from '../nodes/compareNodes.ts';
import { adoptClaims } from './adoptClaims.ts';
import type { RelayerContext } from './context.ts';
import { createClockLook } from './createClockLook.ts';
import { type ChainOptions, resumeRequests } from './createContext.ts';
import { type OpenChain, openChain } from './openChain.ts';
import type { RoundResult } from './pickClaims.ts';
import { createExecutionWatch, runRound } from './runRound.ts';

/** How often the gateway is asked for own claims that the journal does not know, in milliseconds. */
const ADOPT_INTERVAL_MS = 60_000;
/** How often the journal is looked at, in milliseconds. */
const HEARTBEAT_MS = 5000;
/** With every other of them each node is asked for the key's transactions and the ether while there is work: in one call to each. */
const BUSY_LOOK_MS = 9000;
/** How often while there is none, in milliseconds: the newest block; the key's transactions; the ether. */
const IDLE_LOOK_MS = 15_000;
const IDLE_KEY_MS = 60_000;
const BALANCE_LOOK_MS = 300_000;
/** How often the bytes of what is final are dropped, in milliseconds: blocks take a quarter of an hour until they are. */
const PRUNE_EVERY_MS = 600_000;
/** How long a start waits for a chain to answer before it goes on without it, in milliseconds. */
const OPENING_MS = 5000;
/** The pause of a relayer that the gateway lets in to nothing, in milliseconds: what fails counts against all behind its address. */
const REFUSED_MS = 10_000;
/** By how much a pause grows while there is nothing to do. */
const BACK_OFF = 1.5;

/** The work on one chain. */
export interface ChainWorker {
  readonly chainName: string;
  /** Its journal; undefined while its node has not answered yet. */
  view(): { readonly chainId: number; readonly journal: JournalView } | undefined;
  /** Claims nothing more; resolves when all that was claimed is reported, or the time is over. @param drainMs - how long */
  stop(drainMs: number): Promise<void>;
}

/** A pause that something can end. */
function createPause(random: () => number) {
  let wake = new AbortController();
  return {
    wake: () => wake.abort(),
    async wait(ms: number): Promise<void> {
      // Jitter, so that rivals that were started together drift apart.
      await sleep(ms * (0.5 + random()), undefined, { signal: wake.signal }).catch(() => undefined);
      wake = new AbortController();
    },
  };
}

/** A call that failed ends the round, not the worker. */
function reportFault({ events }: RelayerContext, error: unknown): void {
  if (isJournalFault(error)) {
    const reason = error.message;
    events.emit({ type: 'part-failed', part: 'journal', reason });
    events.emit({ type: 'journal-failed', where: 'journal', reason });
    return;
  }
  const where = isGatewayError(error) ? 'gateway' : 'chain';
  if (error instanceof ChainError || isGatewayError(error)) {
    events.emit({ type: 'round-failed', where, code: error.code, reason: error.message });
  } else events.emit({ type: 'round-failed', where, err: error });
}

async function runOnce(
  context: RelayerContext,
  lookForExecutions: () => Promise<void>,
): Promise<RoundResult | 'refused'> {
  try {
    context.inFlight.run(lookForExecutions());
    return await runRound(context);
  } catch (error) {
    if (!context.signal.aborted) reportFault(context, error);
    return isGatewayError(error, 'UNAUTHORISED', 'FORBIDDEN') ? 'refused' : 'idle';
  }
}

/** Claims until it is stopped. */
async function claimUntil(
  { gatewayReturns }: ChainOptions,
  context: RelayerContext,
  work: {
    readonly isStopping: () => boolean;
    readonly wait: (ms: number) => Promise<void>;
    readonly lookAtClock: () => void;
  },
) {
  const { isStopping, wait, lookAtClock } = work;
  const { policy, monotonicNow, wake } = context;
  const lookForExecutions = createExecutionWatch(context);
  let pauseMs = policy.pollMinMs;
  let adoptAtMs = Number.NEGATIVE_INFINITY;
  // One that comes back from a backup may hold claims that were reported since.
  gatewayReturns.add(() => {
    adoptAtMs = Number.NEGATIVE_INFINITY;
    wake();
  });
  while (!isStopping()) {
    try {
      lookAtClock();
    } catch (error) {
      reportFault(context, error);
    }
    if (monotonicNow() >= adoptAtMs) {
      adoptAtMs = monotonicNow() + ADOPT_INTERVAL_MS;
      await adoptClaims(context).catch((error: unknown) => reportFault(context, error));
    }
    const result = await runOnce(context, lookForExecutions);
    pauseMs = result === 'idle' ? Math.min(policy.pollMaxMs, pauseMs * BACK_OFF) : policy.pollMinMs;
    if (!isStopping()) await wait(result === 'claiming' ? 0 : result === 'refused' ? REFUSED_MS : pauseMs);
  }
}

/** Drops the bytes of what is final on the chain: before that, they may have to be sent again. */
async function prune({ journal, chain }: RelayerContext): Promise<void> {
  const ended = journal.listPrunable();
  if (ended.length === 0) return;
  const pruned = await chain.sender.prune(ended);
  if (pruned.length > 0) journal.prune(pruned);
}

/** Looks at a chain: whether it can be used is reported by its health. @param balanceMs - how old the ether may be */
function lookAtChain({ chain, events }: RelayerContext, balanceMs: number): void {
  // A failure here is noted where the block is read.
  void chain.state.block().catch(() => undefined);
  const balance = chain.state.balance(balanceMs);
  void balance.then((wei) => events.emit({ type: 'balance-read', wei })).catch(() => undefined);
}

/** Reports to the health whether a budget that concerns everybody is used up. */
function lookAtBudgets({ inFlight, events }: RelayerContext): void {
  const used = inFlight.budgets.summary().exceeded.filter(({ party }) => party === '');
  const which = used.map(({ budget, untilMs }) => `that of the ${budget} until ${new Date(untilMs).toISOString()}`);
  const reason = `${which.join(' and ')}; \`status\` shows who used it up`;
  events.emit(
    which.length === 0 ? { type: 'part-well', part: 'budget' } : { type: 'part-failed', part: 'budget', reason },
  );
}

/** How long the oldest has waited of what this relayer has claimed, or would. Whatever else strangers post, it is not counted. */
function findOldestPayable({ gateway, journal, now }: RelayerContext): number {
  const pays = gateway.candidates.list().filter(({ verdict }) => {
    return verdict?.kind === 'ready' || (verdict?.kind === 'leave' && ruleOf(verdict.reason).isPaying);
  });
  const records = [...pays, ...journal.open()].map(({ record }) => Date.parse(record.createdAt));
  return Math.max(0, now() - Math.min(now(), ...records)) / 1000;
}

/** Reports what requests wait for, and whether the journal can be written; what is old is forgotten. */
function lookAtJournal({ context, refusals }: OpenChain): void {
  const { gateway, journal, events, now } = context;
  refusals.look();
  lookAtBudgets(context);
  gateway.candidates.recount(now());
  events.emit({ type: 'requests-counted', counts: gateway.candidates.countAll() });
  events.emit({ type: 'payable-waited', seconds: findOldestPayable(context) });
  journal.probe();
  journal.forgetOld(now());
  events.emit({ type: 'part-well', part: 'journal' });
}

/** Looks at chain and journal now and then: whether they can be used is reported by their health. @returns what ends it */
function startHeartbeat(open: OpenChain, lookAtClock: () => void): NodeJS.Timeout {
  const { context, keyWatch } = open;
  const { chain, inFlight, monotonicNow } = context;
  const compareNodes = createNodeComparison(context);
  const onFault = (error: unknown) => reportFault(context, error);
  let [lookedAtMs, keyAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let prunedAtMs = monotonicNow();
  return setInterval(() => {
    const nowMs = monotonicNow();
    const isBusy = inFlight.size > 0 || chain.sender.isHeld();
    const isDue = (atMs: number, idleMs: number) => nowMs - atMs >= (isBusy ? BUSY_LOOK_MS : idleMs);
    const [isLook, isKeyLook] = [isDue(lookedAtMs, IDLE_LOOK_MS), isDue(keyAtMs, IDLE_KEY_MS)];
    const isBoth = isBusy && (isLook || isKeyLook);
    if (isLook || isBoth) {
      lookedAtMs = nowMs;
      lookAtChain(context, isBusy ? BUSY_LOOK_MS : BALANCE_LOOK_MS);
    }
    if (isKeyLook || isBoth) {
      keyAtMs = nowMs;
      void keyWatch.look().catch(onFault);
    }
    if (nowMs - prunedAtMs >= PRUNE_EVERY_MS) {
      prunedAtMs = nowMs;
      void prune(context).catch(onFault);
    }
    void compareNodes().catch(onFault);
    try {
      lookAtClock();
      keyWatch.report();
      lookAtJournal(open);
    } catch (error) {
      onFault(error);
    }
  }, HEARTBEAT_MS).unref();
}

/** Lets what is claimed end, as far as the time goes, and closes what is open. */
async function closeChain(
  { logger }: ChainOptions,
  context: RelayerContext,
  work: { readonly claiming: Promise<void>; readonly drainMs: number; readonly abort: AbortController },
) {
  const { chain, inFlight, journal } = context;
  const { claiming, drainMs, abort } = work;
  const timer = new AbortController();
  const drained = claiming.then(() => inFlight.idle());
  const late = sleep(drainMs, 'late', { signal: timer.signal }).catch(() => undefined);
  if ((await Promise.race([drained, late])) === 'late') {
    logger.warn({ open: inFlight.size }, 'not drained in time; the next start goes on with what is open');
  }
  timer.abort();
  abort.abort();
  await chain.sender.close();
  await drained;
  try {
    journal.close();
  } catch (error) {
    // What a full disk does not take is done again by the next start, as after a kill.
    reportFault(context, error);
  }
}

/**
 * Starts the work on one chain: goes on with what is open, then claims, submits and reports until it is stopped. A node that does
 * not answer is waited for, beside the work on other chains.
 *
 * @throws ChainError, SenderError if the chain or the journals can never be used as they are
 */
export async function startChainWorker(given: Omit<ChainOptions, 'wake' | 'signal'>): Promise<ChainWorker> {
  const abort = new AbortController();
  const { wake, wait } = createPause(given.random);
  const options = { ...given, wake, signal: abort.signal };
  const { chain, account, logger } = given;
  let isStopping = false;
  let opened: RelayerContext | undefined;
  const working = openChain(options).then((open) => {
    if (open === undefined) return undefined;
    opened = open.context;
    const { context } = open;
    resumeRequests(context);
    const { chainId } = context.chain;
    logger.info({ relayer: account.address, forwarder: chain.forwarder, chainId }, 'working');
    const lookAtClock = createClockLook(context);
    const heartbeat = startHeartbeat(open, lookAtClock);
    const claiming = claimUntil(options, context, { isStopping: () => isStopping, wait, lookAtClock });
    return { context, heartbeat, claiming };
  });
  working.catch((error: unknown) => logger.error({ err: error }, 'the chain cannot be worked on'));
  await Promise.race([working, sleep(OPENING_MS, undefined, { ref: false })]);
  return {
    chainName: chain.chainName,
    view: () => opened && { chainId: opened.chain.chainId, journal: opened.journal.view },
    async stop(drainMs) {
      isStopping = true;
      wake();
      const isOpen = await Promise.race([working.then(() => true), sleep(0, false)]).catch(() => false);
      if (!isOpen) abort.abort();
      const work = await working.catch(() => undefined);
      if (work === undefined) return;
      clearInterval(work.heartbeat);
      opened = undefined;
      await closeChain(options, work.context, { claiming: work.claiming, drainMs, abort });
    },
  };
}
