import { setTimeout as pause } from 'node:timers/promises';
import { createJournalFault, isJournalFault } from '@prism-gateway/node/alerts';
import { createAgeWatch } from '../alerts/createAgeWatch.ts';
import { createPaymentLatch } from '../alerts/createPaymentLatch.ts';
import { reportRecoveries } from '../alerts/reportRecoveries.ts';
import { explainError } from '../explainError.ts';
import { drivePayment } from '../flow/drivePayment.ts';
import { lookAtHeld } from '../flow/holdPayment.ts';
import type { PayerContext } from '../flow/payerContext.ts';
import { pruneFinal, watchPayouts } from '../flow/recoverVanished.ts';
import { refuseChanged, refusedFact, refusePayment } from '../flow/refusePayment.ts';
import { checkListing, type ListedPayment, type ListingFault } from '../frontend/checkListing.ts';
import { FrontendError } from '../frontend/createFrontendClient.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { createPayableChoice } from './createPayableChoice.ts';
import { createResumption } from './createResumption.ts';
import { createUnderway } from './createUnderway.ts';

/** Payments become final some minutes after their end; this often the node is asked for it, and whether it answers. */
const PRUNE_EVERY_MS = 60_000;

/** Asks the frontend for payments, and keeps some under way. */
export interface Poller {
  /** Polls until it is stopped; takes up what was under way once it is known what the key has done. */
  run(): Promise<void>;
  /** No further claims. */
  stop(): void;
  /** Ends once nothing is under way. */
  idle(): Promise<void>;
  /** When the last poll went through, or the first began, on the clock that is never set, in milliseconds. */
  polledAtMs(): number;
  /** Whether the journal cannot be written. */
  isJournalFailing(): boolean;
}

/** How an alert calls a journal that fails, and its end. */
const JOURNAL_WORDS = {
  subject: 'Payments wait: the journal cannot be written',
  text: 'Nothing is begun that cannot be written down, and nothing is paid twice.',
  relief: 'Payments go on.',
};
/** A listing that was worked through is followed by another one after this time at the earliest, in milliseconds. */
const MIN_PAUSE_MS = 200;

/**
 * Creates the poller.
 *
 * @param options.onPolled - called after each poll that has gone through
 * @see docs/specification.md FRONT-1
 */
export function createPoller(context: PayerContext, { onPolled }: { readonly onPolled: () => void }): Poller {
  const { config, frontend, journal, log, signal } = context;
  const journalFault = createJournalFault(context, JOURNAL_WORDS);
  const underway = createUnderway(context, { onJournalFault: (error) => journalFault.raise(error) });
  const listing = createListing(context);
  const resumption = createResumption(context, underway);
  const choosePayable = createPayableChoice(context);
  const silence = createSilence(context);
  const ages = createAgeWatch(context);
  let isStopping = false;
  let prunedAtMs = context.monotonicNow();
  let polledAtMs = context.monotonicNow();

  /** Takes up what has vanished or was found, and what a fault has left behind, such as a disk that was full. */
  function driveOpen(): void {
    if (isStopping) return;
    for (const { paymentIntentId: id } of journal.list(OPEN_STATES)) {
      if (!underway.has(id)) underway.follow(id, (onPaid) => drivePayment(context, id, onPaid));
    }
  }

  /** @returns how many listed payments are to be looked at; undefined while it is not known what the key has done */
  async function poll(): Promise<number | undefined> {
    const entries = await frontend.listPending(signal);
    silence.clearFrontend();
    const payments = listing.take(entries);
    if (!resumption.resume()) return undefined;
    // The others are compared when they are admitted.
    for (const listed of payments) if (underway.has(listed.paymentIntentId)) refuseChanged(context, listed);
    const wanted = payments.filter(({ paymentIntentId: id }) => !underway.has(id) && underway.isRested(id));
    const payable = await choosePayable(wanted);
    underway.offer(payable);
    const finalized = await watchPayouts(context);
    if (finalized > 0 || context.monotonicNow() - prunedAtMs > PRUNE_EVERY_MS) {
      // While nobody pays, nothing else shows that the node is gone.
      await context.client.getBlockNumber({ cacheTime: 0 });
      await pruneFinal(context);
      prunedAtMs = context.monotonicNow();
    }
    await lookAtHeld(context);
    await reportRecoveries(context);
    driveOpen();
    return payable.length;
  }

  /** @returns how many are to be looked at; none if frontend or node does not answer @throws if the journal fails */
  async function pollSafely(): Promise<number> {
    try {
      const found = await poll();
      polledAtMs = context.monotonicNow();
      onPolled();
      if (found === undefined) return 0;
      silence.clear();
      return found;
    } catch (error) {
      if (signal.aborted) return 0;
      if (isJournalFault(error)) throw error;
      const reason = explainError(error);
      log.warn({ reason }, 'the poll failed');
      silence.note(error, reason);
      return 0;
    }
  }

  /** One round; a journal that cannot be written, as on a full disk, ends no process. @returns how many are to be looked at */
  async function playRound(): Promise<number> {
    try {
      const found = await pollSafely();
      ages.look(listing.last());
      journalFault.clear();
      return found;
    } catch (error) {
      if (!signal.aborted) journalFault.raise(error);
      return 0;
    }
  }

  /** Ends when the next poll is due: soon, once what was found is worked through. */
  async function rest(found: number): Promise<void> {
    const rested = new AbortController();
    const until = AbortSignal.any([signal, rested.signal]);
    const wait = (ms: number) => pause(ms, undefined, { signal: until }).catch(() => undefined);
    const waits = [wait(config.pollIntervalMs)];
    if (found > 0) {
      const shortest = Math.min(MIN_PAUSE_MS, config.pollIntervalMs);
      waits.push(underway.waitForRoom().then(() => wait(shortest)));
    }
    await Promise.race(waits);
    rested.abort();
  }

  return {
    stop() {
      isStopping = true;
      underway.stop();
    },
    idle: underway.idle,
    polledAtMs: () => polledAtMs,
    isJournalFailing: journalFault.isRaised,
    async run() {
      while (!isStopping && !signal.aborted) {
        const found = await playRound();
        underway.begin();
        await rest(found);
      }
      await resumption.idle();
    },
  };
}

/** Entries of a listing that are looked at; the frontend lists the oldest first, and the others when these are done. */
const MAX_ENTRIES = 5000;

/** The frontend's list. */
interface Listing {
  /** Takes a listing: what is unfit is refused for good, and the journal learns what is new, and what is listed no more. */
  take(entries: readonly unknown[]): readonly ListedPayment[];
  /** The valid payments of the last one. */
  last(): readonly ListedPayment[];
}

/**
 * Makes the memory of what is listed.
 *
 * @see docs/specification.md FRONT-1
 */
function createListing(context: PayerContext): Listing {
  const { config, journal } = context;
  const { exchange, creditToken, stablecoin, payouts, self, others } = config;
  const forbidden = [exchange, creditToken, stablecoin, self, ...others, ...(payouts === undefined ? [] : [payouts])];
  let last: readonly ListedPayment[] = [];

  const isRefused = (id: string) => journal.fact(refusedFact(id)) !== undefined;

  /** Of a listing that is too long, not what is refused already, so that junk keeps nothing back. */
  function selectEntries(entries: readonly unknown[]): readonly unknown[] {
    if (entries.length <= MAX_ENTRIES) return entries;
    const isOpen = (entry: unknown) => {
      const id = (entry as { readonly paymentIntentId?: unknown } | null)?.paymentIntentId;
      return typeof id === 'string' && !isRefused(id);
    };
    return entries.filter(isOpen).slice(0, MAX_ENTRIES);
  }

  /** Refuses what is unfit, in one commit: a listing may be full of it. */
  function refuseAll(faults: readonly ListingFault[]): void {
    if (faults.length === 0) return;
    journal.commit(() => {
      for (const fault of faults) refusePayment(context, fault);
    });
  }

  /** Writes down what is listed for the first time, so that its age is known whatever happens, and what is listed no more. */
  function note(payments: readonly ListedPayment[]): void {
    const ids = new Set(payments.map(({ paymentIntentId }) => paymentIntentId));
    const added = payments.filter(({ paymentIntentId: id }) => journal.get(id) === undefined && !isRefused(id));
    const gone = journal.listWaiting().filter(({ paymentIntentId }) => !ids.has(paymentIntentId));
    const before = new Set(last.map(({ paymentIntentId }) => paymentIntentId));
    const back = [...ids].filter((id) => !before.has(id));
    if (added.length + gone.length + back.length > 0) {
      journal.commit(() => {
        for (const listed of added) journal.add(listed);
        for (const { paymentIntentId } of gone) journal.setListed(paymentIntentId, false);
        for (const id of back) journal.setListed(id, true);
      });
    }
    last = payments;
  }

  return {
    take(entries) {
      const { payments, faults } = checkListing(selectEntries(entries), forbidden);
      refuseAll(faults);
      note(payments);
      return payments;
    },
    last: () => last,
  };
}

/** Polls in a row without an answer, then people are alerted. */
const MAX_SILENT_POLLS = 5;

/** Who of frontend and node does not answer. */
interface Silence {
  /** The frontend has answered. */
  clearFrontend(): void;
  /** Both have answered all that a poll asks. */
  clear(): void;
  /** Counts a poll that failed. @param reason - of the error, for people */
  note(error: unknown, reason: string): void;
}

/** Makes the count of failed polls; people are alerted when it grows too large, and when it has ended. */
function createSilence(context: PayerContext): Silence {
  const latches = {
    frontend: createPaymentLatch(context, {
      code: 'FRONTEND_SILENT',
      subject: 'The frontend does not answer',
      over: 'The frontend answers again',
    }),
    node: createPaymentLatch(context, {
      code: 'NODE_SILENT',
      subject: 'The node does not answer, or is behind',
      over: 'The node answers again',
    }),
  };
  let polls = { frontend: 0, node: 0 };
  return {
    clearFrontend() {
      // A node that fails all the while ends no row of the frontend's.
      polls.frontend = 0;
      latches.frontend.clear();
    },
    clear() {
      polls = { frontend: 0, node: 0 };
      latches.node.clear();
    },
    note(error, reason) {
      const who = error instanceof FrontendError ? 'frontend' : 'node';
      polls[who] += 1;
      if (polls[who] < MAX_SILENT_POLLS) return;
      latches[who].raise(`${polls[who]} polls in a row failed. ${reason}`);
    },
  };
}
