import { setTimeout as pause } from 'node:timers/promises';
import { createJournalFault, isJournalFault } from '@prism-gateway/alerts';
import { createAgeWatch } from '../alerts/createAgeWatch.ts';
import { tellRecoveries } from '../alerts/tellRecoveries.ts';
import { explainError } from '../explainError.ts';
import { drivePayment } from '../flow/drivePayment.ts';
import { lookAtHeld } from '../flow/holdPayment.ts';
import { watchPayouts } from '../flow/recoverVanished.ts';
import { refuseChanged } from '../flow/refusePayment.ts';
import type { RelayerContext } from '../flow/relayerContext.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { createListing } from './createListing.ts';
import { createPayableChoice } from './createPayableChoice.ts';
import { createResumption } from './createResumption.ts';
import { createSilence } from './createSilence.ts';
import { createUnderway } from './createUnderway.ts';

/** Asks the frontend for payments, and keeps some under way. */
export interface Poller {
  /** Polls until it is told to stop; takes up what was under way once it is settled what the key has done. */
  run(): Promise<void>;
  /** No further claims. */
  stop(): void;
  /** Ends once nothing is under way. */
  idle(): Promise<void>;
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
 * @param context - the instance
 * @returns the poller, at rest
 * @see docs/specification.md FRONT-1
 */
export function createPoller(context: RelayerContext): Poller {
  const { config, frontend, journal, log, signal } = context;
  const journalFault = createJournalFault(context, JOURNAL_WORDS);
  const underway = createUnderway(context, { onJournalFault: (error) => journalFault.raise(error) });
  const listing = createListing(context);
  const resumption = createResumption(context, underway);
  const choosePayable = createPayableChoice(context);
  const silence = createSilence(context);
  const ages = createAgeWatch(context);
  let isStopping = false;

  /** Takes up what has vanished or was found, and what a fault has left behind, such as a disk that was full. */
  function driveOpen(): void {
    if (isStopping) return;
    for (const { paymentIntentId: id } of journal.list(OPEN_STATES)) {
      if (!underway.has(id)) underway.follow(id, () => drivePayment(context, id));
    }
  }

  /** @returns how many listed payments are to be looked at; undefined while it is not settled what the key has done */
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
    await watchPayouts(context);
    await lookAtHeld(context, new Set(payments.map(({ paymentIntentId }) => paymentIntentId)));
    await tellRecoveries(context);
    driveOpen();
    return payable.length;
  }

  /** @returns how many are to be looked at; none where frontend or node does not answer @throws where the journal fails */
  async function pollSafely(): Promise<number> {
    try {
      const found = await poll();
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
