import { setTimeout as pause } from 'node:timers/promises';
import { createJournalFault, isJournalFault } from '@prism-gateway/alerts';
import { createAgeWatch } from '../alerts/createAgeWatch.ts';
import { createPaymentLatch } from '../alerts/createPaymentLatch.ts';
import { tellRecoveries } from '../alerts/tellRecoveries.ts';
import { KeyUsedElsewhereError } from '../chain/createKeyWatch.ts';
import { explainError } from '../explainError.ts';
import { FrontendError } from '../frontend/FrontendError.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { checkListing, type ListedPayment, type ListingFault } from '../payments/checkListing.ts';
import { OBSTACLES, type Obstacle } from '../readiness/createReadiness.ts';
import { admitPayment } from './admitPayment.ts';
import { drivePayment, resumePayments } from './drivePayment.ts';
import { lookAtHeld } from './holdPayment.ts';
import { recheckMarks } from './recheckMarks.ts';
import { watchPayouts } from './recoverVanished.ts';
import { refuseChanged, refusedFact, refusePayment } from './refusePayment.ts';
import type { RelayerContext } from './relayerContext.ts';

/** Asks the frontend for payments, and keeps some under way. */
export interface Poller {
  /** Polls until it is told to stop; takes up what was under way once it is settled what the key has done. */
  run(): Promise<void>;
  /** No further claims. */
  stop(): void;
  /** Ends once nothing is under way. */
  idle(): Promise<void>;
}

/** Polls in a row without an answer, then people are told. */
const MAX_SILENT_POLLS = 5;
/** How alerts call what is in the way of payments, and its end. */
const OBSTACLE_SUBJECTS: Readonly<Record<Obstacle['code'], { readonly subject: string; readonly over: string }>> = {
  APPROVAL_MISSING: { subject: 'Payments wait: an approval is missing', over: 'The approval is there' },
  CONTRACTS_WRONG: { subject: 'Payments wait: a contract is not what it should be', over: 'The contracts are right' },
  GAS_PRICE_TOO_HIGH: { subject: 'No payments are begun: gas costs too much', over: 'Gas costs less again' },
  OUT_OF_ETHER: { subject: 'Payments wait: out of ether', over: 'There is ether again' },
  OUT_OF_STABLECOINS: { subject: 'Payments wait: out of stablecoins', over: 'There are stablecoins again' },
  RATE_DEVIATES: { subject: 'Payments wait: the rate is not as expected', over: 'The rate is as expected again' },
};
/** How an alert calls a journal that fails, and its end. */
const JOURNAL_WORDS = {
  subject: 'Payments wait: the journal cannot be written',
  text: 'Nothing is begun that cannot be written down, and nothing is paid twice.',
  relief: 'Payments go on.',
};
/** Entries of a listing that are looked at; the frontend lists the oldest first, and the others when these are done. */
const MAX_ENTRIES = 5000;
/** A listing that was worked through is followed by another one after this time at the earliest, in milliseconds. */
const MIN_PAUSE_MS = 200;

/**
 * Creates the poller.
 *
 * @param context - the instance
 * @returns the poller, at rest
 * @see docs/specification.md FRONT-1
 */
export function createPoller(context: RelayerContext): Poller {
  const { config, frontend, log, signal } = context;
  const active = new Map<string, Promise<void>>();
  const coolUntilMs = new Map<string, number>();
  let waiting: ListedPayment[] = [];
  let isStopping = false;
  let isChecked = false;
  let isResumed = false;
  let settling: Promise<void> | undefined;
  let settleFault: unknown;
  let lastListed: readonly ListedPayment[] = [];
  const ages = createAgeWatch(context);
  const journalFault = createJournalFault(context, JOURNAL_WORDS);
  let silentPolls = { frontend: 0, node: 0 };
  let wake = Promise.withResolvers<void>();
  const silence = createPaymentLatch(context, {
    code: 'FRONTEND_SILENT',
    subject: 'The frontend does not answer',
    over: 'The frontend answers again',
  });
  const nodeSilence = createPaymentLatch(context, {
    code: 'NODE_SILENT',
    subject: 'The node does not answer, or is behind',
    over: 'The node answers again',
  });
  const latches = new Map(
    OBSTACLES.map((code) => [code, createPaymentLatch(context, { code, ...OBSTACLE_SUBJECTS[code] })] as const),
  );

  function follow(paymentIntentId: string, work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const reason = explainError(error);
        log.warn({ paymentIntentId, reason }, 'not taken up');
        if (isJournalFault(error)) journalFault.raise(error);
      })
      .finally(() => {
        active.delete(paymentIntentId);
        coolUntilMs.set(paymentIntentId, context.monotonicNow() + config.retryDelayMs);
        pump();
      });
    active.set(paymentIntentId, done);
  }

  function pump(): void {
    if (isStopping || signal.aborted) return;
    while (active.size < config.maxInFlight) {
      const listed = waiting.shift();
      if (listed === undefined) break;
      if (active.has(listed.paymentIntentId)) continue;
      follow(listed.paymentIntentId, async () => {
        if (await admitPayment(context, listed)) await drivePayment(context, listed.paymentIntentId);
      });
    }
    if (waiting.length === 0 && active.size < config.maxInFlight) wake.resolve();
  }

  const isCool = ({ paymentIntentId }: ListedPayment) =>
    (coolUntilMs.get(paymentIntentId) ?? 0) <= context.monotonicNow();

  /** Sorts out what this instance can pay; people are told what is in the way, and when it is no longer. */
  async function choosePayable(wanted: readonly ListedPayment[]): Promise<readonly ListedPayment[]> {
    const isTold = [...latches.values()].some((latch) => latch.isRaised());
    if ((wanted.length === 0 && !isTold) || !(await isKeyOurs())) return [];
    const { payable, obstacles } = await context.readiness.judge(wanted);
    for (const [code, latch] of latches) {
      const obstacle = obstacles.find((found) => found.code === code);
      if (obstacle === undefined) latch.clear();
      else latch.raise(obstacle.text);
    }
    return payable;
  }

  /** Takes up what has vanished or was found, and what a fault has left behind, such as a disk that was full. */
  function driveOpen(): void {
    if (isStopping) return;
    for (const { paymentIntentId: id } of context.journal.list(OPEN_STATES)) {
      if (!active.has(id)) follow(id, () => drivePayment(context, id));
    }
  }

  /** Whether nobody else uses the key, as far as the chain shows; payments are begun only then. */
  async function isKeyOurs(): Promise<boolean> {
    try {
      await context.watch.check();
      return true;
    } catch (error) {
      if (error instanceof KeyUsedElsewhereError) return false;
      throw error;
    }
  }

  /** What the journal holds is taken up once it is known what the key has done; polls go on meanwhile. */
  function isSettled(): boolean {
    if (context.watch.state() === 'unsettled') {
      settling ??= context
        .settle()
        .catch((error: unknown) => {
          settleFault = error;
        })
        .finally(() => {
          settling = undefined;
        });
      return false;
    }
    if (!isResumed) resumePayments(context, follow);
    isResumed = true;
    return true;
  }

  /** What of a listing is looked at: of one that is too long, not what is refused already, so that junk keeps nothing back. */
  function selectEntries(entries: readonly unknown[]): readonly unknown[] {
    if (entries.length <= MAX_ENTRIES) return entries;
    const isOpen = (entry: unknown) => {
      const id = (entry as { readonly paymentIntentId?: unknown } | null)?.paymentIntentId;
      return typeof id === 'string' && context.journal.fact(refusedFact(id)) === undefined;
    };
    return entries.filter(isOpen).slice(0, MAX_ENTRIES);
  }

  /** Refuses what is unfit, in one commit: a listing may be full of it. */
  function refuseAll(faults: readonly ListingFault[]): void {
    if (faults.length === 0) return;
    context.journal.commit(() => {
      for (const fault of faults) refusePayment(context, fault);
    });
  }

  /** Writes down what is listed for the first time, so that its age is known whatever happens, and what is listed no more. */
  function noteListed(payments: readonly ListedPayment[]): void {
    const { journal } = context;
    const ids = new Set(payments.map(({ paymentIntentId }) => paymentIntentId));
    const added = payments.filter(
      ({ paymentIntentId: id }) => journal.get(id) === undefined && journal.fact(refusedFact(id)) === undefined,
    );
    const gone = journal.listWaiting().filter(({ paymentIntentId }) => !ids.has(paymentIntentId));
    const before = new Set(lastListed.map(({ paymentIntentId }) => paymentIntentId));
    const back = [...ids].filter((id) => !before.has(id));
    lastListed = payments;
    if (added.length + gone.length + back.length === 0) return;
    journal.commit(() => {
      for (const listed of added) journal.add(listed);
      for (const { paymentIntentId } of gone) journal.setListed(paymentIntentId, false);
      for (const id of back) journal.setListed(id, true);
    });
  }

  /** Gives what has kept the key from being settled to whoever counts the node's faults. */
  function throwSettleFault(): void {
    const fault = settleFault;
    settleFault = undefined;
    if (fault !== undefined) throw fault;
  }

  /** @returns how many listed payments are to be looked at; undefined while it is not settled what the key has done */
  async function poll(): Promise<number | undefined> {
    const entries = await frontend.listPending(signal);
    silence.clear();
    const { exchange, creditToken, stablecoin, payouts, self, others } = config;
    const forbidden = [exchange, creditToken, stablecoin, self, ...others, ...(payouts === undefined ? [] : [payouts])];
    const { payments, faults } = checkListing(selectEntries(entries), forbidden);
    refuseAll(faults);
    noteListed(payments);
    if (!isChecked) await recheckMarks(context);
    isChecked = true;
    if (!isSettled()) {
      throwSettleFault();
      return undefined;
    }
    // The others are compared when they are admitted.
    for (const listed of payments) if (active.has(listed.paymentIntentId)) refuseChanged(context, listed);
    for (const [id, untilMs] of coolUntilMs) if (untilMs <= context.monotonicNow()) coolUntilMs.delete(id);
    const wanted = payments.filter((listed) => !active.has(listed.paymentIntentId) && isCool(listed));
    waiting = [...(await choosePayable(wanted))];
    await watchPayouts(context);
    await lookAtHeld(context, new Set(payments.map(({ paymentIntentId }) => paymentIntentId)));
    await tellRecoveries(context);
    driveOpen();
    return waiting.length;
  }

  async function pollSafely(): Promise<number> {
    try {
      const found = await poll();
      if (found === undefined) return 0;
      silentPolls = { frontend: 0, node: 0 };
      nodeSilence.clear();
      return found;
    } catch (error) {
      if (signal.aborted) return 0;
      if (isJournalFault(error)) throw error;
      const reason = explainError(error);
      log.warn({ reason }, 'the poll failed');
      const who = error instanceof FrontendError ? 'frontend' : 'node';
      silentPolls[who]++;
      if (silentPolls[who] < MAX_SILENT_POLLS) return 0;
      (who === 'frontend' ? silence : nodeSilence).raise(`${silentPolls[who]} polls in a row failed. ${reason}`);
      return 0;
    }
  }

  /** One round; a journal that cannot be written, as on a full disk, ends no process. @returns how many are to be looked at */
  async function playRound(): Promise<number> {
    try {
      const found = await pollSafely();
      ages.look(lastListed);
      journalFault.clear();
      return found;
    } catch (error) {
      if (!signal.aborted) journalFault.raise(error);
      return 0;
    }
  }

  return {
    stop() {
      isStopping = true;
      waiting = [];
      wake.resolve();
    },
    async idle() {
      while (active.size > 0) await Promise.all(active.values());
    },
    async run() {
      while (!isStopping && !signal.aborted) {
        wake = Promise.withResolvers<void>();
        const found = await playRound();
        pump();
        const timer = new AbortController();
        const ends = AbortSignal.any([signal, timer.signal]);
        const waits = [pause(config.pollIntervalMs, undefined, { signal: ends }).catch(() => undefined)];
        const shortest = Math.min(MIN_PAUSE_MS, config.pollIntervalMs);
        if (found > 0)
          waits.push(wake.promise.then(() => pause(shortest, undefined, { signal: ends }).catch(() => undefined)));
        await Promise.race(waits);
        timer.abort();
      }
      await settling;
    },
  };
}
