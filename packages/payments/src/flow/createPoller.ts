import { setTimeout as pause } from 'node:timers/promises';
import { alertLatch } from '../alerts/alertLatch.ts';
import { OPEN_STATES } from '../journal/paymentState.ts';
import { checkListing, type ListedPayment } from '../payments/checkListing.ts';
import { admitPayment } from './admitPayment.ts';
import { drivePayment } from './drivePayment.ts';
import { lookAtHeld } from './holdPayment.ts';
import { watchPayouts } from './recoverVanished.ts';
import { refuseChanged, refusePayment } from './refusePayment.ts';
import type { RelayerContext } from './relayerContext.ts';
import { StepError } from './StepError.ts';

/** Asks the frontend for payments, and keeps some under way. */
export interface Poller {
  /** Takes up a payment that was under way before. */
  resume(paymentIntentId: string, drive: () => Promise<void>): void;
  /** Polls until it is told to stop. */
  run(): Promise<void>;
  /** No further claims. */
  stop(): void;
  /** Ends once nothing is under way. */
  idle(): Promise<void>;
}

/** Polls in a row without an answer, then people are told. */
const MAX_SILENT_POLLS = 5;
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
  let silentPolls = 0;
  let wake = Promise.withResolvers<void>();
  const silence = alertLatch(context, {
    code: 'FRONTEND_SILENT',
    subject: 'The frontend does not answer',
    over: 'The frontend answers again',
  });
  const spike = alertLatch(context, {
    code: 'GAS_PRICE_TOO_HIGH',
    subject: 'No payments are begun: gas costs too much',
    over: 'Gas costs less again',
  });

  function follow(paymentIntentId: string, work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const reason = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown';
        log.warn({ paymentIntentId, reason }, 'not taken up');
      })
      .finally(() => {
        active.delete(paymentIntentId);
        coolUntilMs.set(paymentIntentId, context.now() + config.retryDelayMs);
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

  const isCool = ({ paymentIntentId }: ListedPayment) => (coolUntilMs.get(paymentIntentId) ?? 0) <= context.now();

  async function isGasCheap(): Promise<boolean> {
    try {
      await context.readiness.checkGasPrice();
      spike.clear();
      return true;
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      spike.raise(error.message);
      return false;
    }
  }

  /** Takes up what has vanished or was found, and what a fault has left behind, such as a disk that was full. */
  function driveOpen(): void {
    if (isStopping) return;
    for (const { paymentIntentId: id } of context.journal.list(OPEN_STATES)) {
      if (!active.has(id)) follow(id, () => drivePayment(context, id));
    }
  }

  /** @returns how many listed payments are to be looked at */
  async function poll(): Promise<number> {
    const entries = await frontend.listPending(signal);
    silentPolls = 0;
    silence.clear();
    const { exchange, creditToken, stablecoin, self, others } = config;
    const { payments, faults } = checkListing(entries, [exchange, creditToken, stablecoin, self, ...others]);
    for (const fault of faults) refusePayment(context, fault);
    // The others are compared when they are admitted.
    for (const listed of payments) if (active.has(listed.paymentIntentId)) refuseChanged(context, listed);
    for (const [id, untilMs] of coolUntilMs) if (untilMs <= context.now()) coolUntilMs.delete(id);
    const wanted = payments.filter((listed) => !active.has(listed.paymentIntentId) && isCool(listed));
    waiting = wanted.length > 0 && (await isGasCheap()) ? wanted : [];
    await watchPayouts(context);
    await lookAtHeld(context);
    driveOpen();
    return waiting.length;
  }

  async function pollSafely(): Promise<number> {
    try {
      return await poll();
    } catch (error) {
      if (signal.aborted) return 0;
      const reason = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown';
      log.warn({ reason }, 'the poll failed');
      silentPolls++;
      if (silentPolls >= MAX_SILENT_POLLS) silence.raise(`${silentPolls} polls in a row failed. ${reason}`);
      return 0;
    }
  }

  return {
    resume: follow,
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
        const found = await pollSafely();
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
    },
  };
}
