import timers from 'node:timers/promises';
import { createBackOff } from '@prism-gateway/node';
import type { RequestRecord } from '@prism-gateway/protocol';
import { chooseFeedPause, GatewayError, isGatewayError } from '@prism-gateway/sdk';
import type { Events } from '../events/events.ts';
import { pendingOf } from './createBacklog.ts';
import type { FeedPage, QueueCalls } from './requestGateway.ts';

/** How long the gateway waits for something new, in seconds: the longest that it takes. */
const WAIT_SECONDS = 25;
/** Most new requests that wait to be looked at. */
const MAX_UNREAD = 500;
/** Pauses while the feed cannot be read, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 10_000 };

/** Requests as they become pending. */
interface LiveFeed {
  /** Where the feed is read from next. */
  cursor(): string;
  /** Whether there is something that was not taken. */
  hasArrivals(): boolean;
  /** Resolves as soon as there is. */
  nextUpdate(): Promise<void>;
  take(): readonly RequestRecord[];
  /** Goes on from now, as the gateway says when it is asked next. */
  beginAnew(): void;
}

/**
 * Follows a feed until the signal: each call waits at the gateway for what is new. While as much as a look goes through has not been
 * taken, no more is read: nobody makes this relayer hold more than its bounds.
 */
export function createLiveFeed(
  ports: {
    readonly calls: QueueCalls;
    readonly events: Events;
    readonly wake: () => void;
    /** Called if the gateway does not know the cursor any more: the feed goes on from now, and something lies between. */
    readonly onLost: () => void;
    /** Called once the feed goes on from another place: what was pending before lies between. */
    readonly onBegun: () => void;
    /** Called when the gateway may have been started again, although no call has failed. */
    readonly onRestarted: () => void;
    readonly random: () => number;
    readonly signal: AbortSignal;
  },
  first: FeedPage,
): LiveFeed {
  const { calls, events, wake, onLost, onBegun, onRestarted, random, signal } = ports;
  let beginsAnew = false;
  let unread = pendingOf(first.items);
  let { cursor } = first;
  let drained = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();

  function add(items: readonly RequestRecord[]): void {
    const fresh = pendingOf(items);
    if (fresh.length === 0) return;
    unread.push(...fresh);
    arrived.resolve();
    wake();
  }

  async function recordFault(error: unknown): Promise<void> {
    const code = error instanceof GatewayError ? error.code : 'UNKNOWN';
    events.emit({ type: 'feed-unread', where: 'gateway', code });
    if (!(error instanceof GatewayError)) throw error;
    if (!isGatewayError(error, 'VALIDATION_FAILED')) return;
    const page = await calls.feed({ from: 'now', wait: 0 }).catch(() => undefined);
    // Without an answer the old cursor is refused once more.
    if (page === undefined) return;
    ({ cursor } = page);
    // Only now: a walk that ended before would not have come to what was posted meanwhile.
    onLost();
  }

  async function follow(): Promise<void> {
    const backOff = createBackOff({ ...PAUSES, random, signal });
    let quiet = 0;
    let wait = WAIT_SECONDS;
    // Until the gateway shows otherwise: the very first wait may be the one that its end cuts short.
    let hasWaited = true;
    while (!signal.aborted) {
      while (unread.length >= MAX_UNREAD && !signal.aborted) await drained.promise;
      try {
        if (beginsAnew) {
          ({ cursor } = await calls.feed({ from: 'now', wait: 0 }));
          beginsAnew = false;
          onBegun();
        }
        const page = await calls.feed({ cursor, wait });
        wait = WAIT_SECONDS;
        cursor = page.cursor;
        add(page.items);
        backOff.reset();
        quiet = page.items.length > 0 ? 0 : quiet + 1;
        if (quiet > 0 && page.askAgainMs !== undefined)
          await timers.setTimeout(chooseFeedPause(page.askAgainMs, quiet - 1), undefined, { signal });
        // One that has let calls wait and lets none wait any more was about to end.
        if (hasWaited && page.askAgainMs !== undefined) onRestarted();
        hasWaited = page.askAgainMs === undefined;
      } catch (error) {
        if (signal.aborted) return;
        // Whether the gateway is there again is reported at once, and not after a long wait for news.
        wait = 0;
        await recordFault(error);
        if (!(await backOff.wait())) return;
      }
    }
  }

  // It ends with the signal; a defect is reported like any other.
  follow().catch((error: unknown) => events.emit({ type: 'feed-failed', err: error }));
  return {
    cursor: () => cursor,
    hasArrivals: () => unread.length > 0,
    nextUpdate: () => (unread.length > 0 ? Promise.resolve() : arrived.promise),
    take() {
      const taken = unread;
      unread = [];
      drained.resolve();
      [drained, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
      return taken;
    },
    beginAnew() {
      beginsAnew = true;
    },
  };
}
