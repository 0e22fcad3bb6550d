import type { Logger } from '../ports/logger.ts';
import type { WebhookPost } from '../ports/webhookPost.ts';
import type { DeliveryOutcome, DeliveryQueue, TakenDelivery } from '../ports/webhookStore.ts';
import { attemptDelivery, HOLD_MS, PER_WEBHOOK } from './attemptDelivery.ts';
import { tellNews } from './tellNews.ts';

/** How often the queue is looked at although nothing of this process's own has moved, in milliseconds. */
const TICK_MS = 1000;
/** How often lost events are told at most, in milliseconds. */
const TELL_DROPPED_MS = 60_000;
/** Where the process was busy for more than this share of the last window, so long lies between two lots, in milliseconds. */
const [BUSY_SHARE, BUSY_PAUSE_MS, BUSY_WINDOW_MS] = [0.6, 60, 100];

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

/** Tells how busy the process has been of late. */
function createBusyCheck(): () => boolean {
  let last = performance.eventLoopUtilization();
  let lastAt = performance.now();
  let isBusy = false;
  return () => {
    if (performance.now() - lastAt >= BUSY_WINDOW_MS) {
      const now = performance.eventLoopUtilization();
      isBusy = performance.eventLoopUtilization(now, last).utilization > BUSY_SHARE;
      last = now;
      lastAt = performance.now();
    }
    return isBusy;
  };
}

/** Tells, now and then, of events that found no room; those of before the process began were told then. */
function createDropWatch({ queue, logger }: Pick<DispatcherPorts, 'queue' | 'logger'>): () => Promise<void> {
  let known: number | undefined;
  let toldAt = Number.NEGATIVE_INFINITY;
  return async function tellDropped() {
    if (performance.now() - toldAt < TELL_DROPPED_MS) return;
    const dropped = await queue.countDropped();
    const more = dropped - (known ?? dropped);
    known = dropped;
    if (more <= 0) return;
    toldAt = performance.now();
    logger.warn({ code: 'WEBHOOK', news: 'dropped', events: more }, 'webhook');
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
  const underWay: Record<string, number> = {};
  const running = new Set<Promise<void>>();
  const isBusy = createBusyCheck();
  const tellDropped = createDropWatch(ports);
  let outcomes: DeliveryOutcome[] = [];
  let settling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let [lookAt, lookedAt] = [0, 0];
  let isLooking = false;
  let mayHaveMore = false;

  /** Writes all outcomes of a turn at once. */
  async function settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    settling = undefined;
    const done = outcomes;
    outcomes = [];
    // What cannot be written is made again once its time is up: at least once.
    const news = await queue.settle({ now: now(), outcomes: done }).catch((error: unknown) => {
      const why = error instanceof Error ? String(error.cause ?? error) : String(error);
      logger.warn({ code: 'WEBHOOK_OUTCOMES_LOST', count: done.length, why }, 'webhook');
      return [];
    });
    for (const one of news) tellNews(logger, one);
  }

  async function make(one: TakenDelivery): Promise<void> {
    underWay[one.webhookId] = (underWay[one.webhookId] ?? 0) + 1;
    const outcome = await attemptDelivery(ports, one, closing.signal);
    outcomes.push(outcome);
    settling ??= settle();
    await settling;
    underWay[one.webhookId] = (underWay[one.webhookId] ?? 1) - 1;
    if (underWay[one.webhookId] === 0) delete underWay[one.webhookId];
  }

  async function take(): Promise<boolean> {
    await tellDropped();
    const dueAt = await queue.nextDueAt();
    if (dueAt === undefined || dueAt > now()) return false;
    const order = { now: now(), holdMs: HOLD_MS, perWebhook: PER_WEBHOOK, underWay };
    const taken = await queue.take(order);
    for (const one of taken) {
      const run = make(one).finally(() => {
        running.delete(run);
        lookSoon(0);
      });
      running.add(run);
    }
    return taken.length > 0;
  }

  async function look(): Promise<void> {
    timer = undefined;
    lookedAt = performance.now();
    isLooking = true;
    mayHaveMore = false;
    // A store that does not answer is asked again; its own callers are told.
    const found = await take().catch(() => false);
    isLooking = false;
    lookSoon(found || mayHaveMore ? 0 : TICK_MS);
  }

  function lookSoon(ms: number): void {
    if (closing.signal.aborted) return;
    if (isLooking) {
      mayHaveMore ||= ms === 0;
      return;
    }
    const at = performance.now();
    const soonest = ms === 0 && isBusy() ? lookedAt + BUSY_PAUSE_MS - at : ms;
    const inMs = Math.max(0, soonest);
    // An earlier look is good for this too.
    if (timer !== undefined && lookAt <= at + inMs) return;
    clearTimeout(timer);
    lookAt = at + inMs;
    timer = setTimeout(look, inMs).unref();
  }

  queue.onCommitted(() => lookSoon(0));
  lookSoon(TICK_MS);
  return {
    async close() {
      closing.abort();
      clearTimeout(timer);
      await Promise.allSettled(running);
    },
  };
}
