import type { Logger } from '../ports/logger.ts';
import type { WebhookPost } from '../ports/webhookPost.ts';
import type { DeliveryOutcome, DeliveryQueue, TakenDelivery } from '../ports/webhookStore.ts';
import { attemptDelivery, HOLD_MS, PER_WEBHOOK } from './attemptDelivery.ts';
import { createPace, createPaceMeters } from './createPace.ts';
import { logNotice } from './logNotice.ts';

/** How often the queue is looked at although nothing of this process's own has moved, in milliseconds: while something waits, and not. */
const [TICK_MS, IDLE_TICK_MS] = [1000, 5000];
/** How long outcomes wait for others that are under way, in milliseconds: each commit costs the disk and those who post. */
const GATHER_MS = 10;
/** How often lost events are looked for, and reported, at most, in milliseconds. */
const [COUNT_DROPPED_MS, TELL_DROPPED_MS] = [1000, 60_000];

interface DispatcherPorts {
  readonly queue: DeliveryQueue;
  readonly post: WebhookPost;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Sends what waits, for as long as it runs. */
export interface Dispatcher {
  /** Ends attempts under way, which are made again by whoever comes next. */
  close(): Promise<void>;
}

/** Adds to a count, which is there as long as it is not zero. */
function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Logs, now and then, events that found no room; those of before the process began were logged then. */
function createDropWatch({ queue, logger }: Pick<DispatcherPorts, 'queue' | 'logger'>): () => Promise<void> {
  let known: number | undefined;
  let nextAt = 0;
  return async function logDropped() {
    const at = performance.now();
    if (at < nextAt) return;
    nextAt = at + COUNT_DROPPED_MS;
    const dropped = await queue.countDropped();
    const more = dropped - (known ?? dropped);
    known = dropped;
    if (more <= 0) return;
    nextAt = at + TELL_DROPPED_MS;
    logger.warn({ code: 'WEBHOOK', kind: 'dropped', events: more }, 'webhook');
  };
}

/**
 * Starts to deliver. A commit of this process is looked after at once; what another one has left behind, and what is to be tried
 * again, by a look from time to time.
 *
 * @see docs/specification.md WEBHOOK-5
 */
export function startDispatcher(ports: DispatcherPorts): Dispatcher {
  const { queue, logger, now } = ports;
  const closing = new AbortController();
  const underWay = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const pace = createPace(createPaceMeters());
  const logDropped = createDropWatch(ports);
  let outcomes: DeliveryOutcome[] = [];
  let attempting = 0;
  let finalizing: Promise<void> | undefined;
  let finalizeNow = () => {};
  let timer: NodeJS.Timeout | undefined;
  let lookAt = 0;
  let isLooking = false;
  let isIdle = false;
  let mayHaveMore = false;

  /** Resolves once no attempt is under way, or some time has passed. */
  function gather(): Promise<void> {
    return new Promise((resolve) => {
      const enough = setTimeout(resolve, GATHER_MS);
      finalizeNow = () => {
        clearTimeout(enough);
        setImmediate(resolve);
      };
      if (attempting === 0) finalizeNow();
    });
  }

  /** Writes the outcomes of a lot at once. */
  async function finalize(): Promise<void> {
    await gather();
    finalizing = undefined;
    const done = outcomes;
    outcomes = [];
    // A delivery whose outcome cannot be written is made again once its time is up: at least once.
    const notices = await queue.finalize({ now: now(), outcomes: done }).catch((error: unknown) => {
      const why = error instanceof Error ? String(error.cause ?? error) : String(error);
      logger.warn({ code: 'WEBHOOK_OUTCOMES_LOST', count: done.length, why }, 'webhook');
      return [];
    });
    for (const one of notices) logNotice(logger, one);
    for (const { webhookId } of done) addTo(underWay, webhookId, -1);
    lookSoon(0);
  }

  async function make(one: TakenDelivery): Promise<void> {
    attempting++;
    const outcome = await attemptDelivery(ports, one, closing.signal);
    attempting--;
    outcomes.push(outcome);
    if (attempting === 0) finalizeNow();
    finalizing ??= finalize();
    await finalizing;
  }

  async function take(): Promise<boolean> {
    const full = [...underWay].filter(([, count]) => count >= PER_WEBHOOK).map(([webhookId]) => webhookId);
    const dueAt = await queue.nextDueAt(now(), full);
    isIdle = dueAt === undefined && full.length === 0;
    if (dueAt === undefined || dueAt > now()) return false;
    const order = { now: now(), holdMs: HOLD_MS, perWebhook: PER_WEBHOOK, underWay: Object.fromEntries(underWay) };
    const taken = await queue.take(order);
    pace.recordDeliveries(taken.length);
    for (const one of taken) {
      addTo(underWay, one.webhookId, 1);
      const run = make(one).finally(() => running.delete(run));
      running.add(run);
    }
    return taken.length > 0;
  }

  async function look(): Promise<void> {
    timer = undefined;
    pace.recordLook();
    isLooking = true;
    mayHaveMore = false;
    // A store that does not answer is asked again; its own callers get the error.
    const found = await take().catch(() => false);
    // Behind what is due, which a look into the store for it would hold up.
    await logDropped().catch(() => undefined);
    isLooking = false;
    lookSoon(found || mayHaveMore ? 0 : isIdle ? IDLE_TICK_MS : TICK_MS);
  }

  function lookSoon(ms: number): void {
    if (closing.signal.aborted) return;
    if (isLooking) {
      mayHaveMore ||= ms === 0;
      return;
    }
    const inMs = ms === 0 ? pace.restMs() : ms;
    const at = performance.now() + inMs;
    // An earlier look is good for this too.
    if (timer !== undefined && lookAt <= at) return;
    clearTimeout(timer);
    lookAt = at;
    timer = setTimeout(look, inMs).unref();
  }

  queue.onCommitted((moves) => {
    pace.recordMoves(moves);
    lookSoon(0);
  });
  lookSoon(TICK_MS);
  return {
    async close() {
      closing.abort();
      clearTimeout(timer);
      await Promise.allSettled(running);
    },
  };
}
