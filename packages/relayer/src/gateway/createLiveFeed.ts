import type { RequestRecord } from '@prism-gateway/protocol';
import { createBackOff } from '@prism-gateway/runtime';
import { GatewayError, isGatewayError } from '@prism-gateway/sdk';
import type { ChainNotes } from '../lifecycle/createChainNotes.ts';
import { type FeedPage, pendingOf, type QueueCalls } from './createQueueCalls.ts';

/** How long the gateway waits for something new, in seconds: the longest that it takes. */
const WAIT_SECONDS = 25;
/** Most new requests that wait to be looked at. */
const MAX_UNREAD = 500;
/** Pauses while the feed cannot be read, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 10_000 };

/** What following goes through. */
export interface LiveFeedPorts {
  readonly calls: Pick<QueueCalls, 'feed'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly wake: () => void;
  /** Called where the gateway does not know the cursor any more: the feed goes on from now, and something lies between. */
  readonly onLost: () => void;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What becomes pending, as it does. */
export interface LiveFeed {
  /** Where the feed is read from next. */
  cursor(): string;
  /** Whether there is something that was not taken. */
  hasNews(): boolean;
  /** Resolves as soon as there is. */
  news(): Promise<void>;
  take(): readonly RequestRecord[];
}

/**
 * Follows a feed until the signal: each call waits at the gateway for what is new. While as much as a look goes through has not been
 * taken, no more is read: nobody makes this relayer hold more than its bounds.
 *
 * @param ports - the feed, and whom to tell
 * @param first - the page that it goes on behind
 */
export function createLiveFeed(ports: LiveFeedPorts, first: FeedPage): LiveFeed {
  const { calls, notes, wake, onLost, random, signal } = ports;
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

  async function noteFault(error: unknown): Promise<void> {
    notes.fault('gateway');
    notes.log.warn({ code: error instanceof GatewayError ? error.code : 'UNKNOWN' }, 'the feed cannot be read');
    if (!(error instanceof GatewayError)) throw error;
    if (!isGatewayError(error, 'VALIDATION_FAILED')) return;
    onLost();
    cursor = (await calls.feed({ from: 'now', wait: 0 }).catch(() => ({ cursor }))).cursor;
  }

  async function follow(): Promise<void> {
    const backOff = createBackOff({ ...PAUSES, random, signal });
    let wait = WAIT_SECONDS;
    while (!signal.aborted) {
      while (unread.length >= MAX_UNREAD && !signal.aborted) await drained.promise;
      try {
        const page = await calls.feed({ cursor, wait });
        wait = WAIT_SECONDS;
        cursor = page.cursor;
        add(page.items);
        backOff.reset();
      } catch (error) {
        if (signal.aborted) return;
        // Whether the gateway is there again is told at once, and not after a long wait for news.
        wait = 0;
        await noteFault(error);
        if (!(await backOff.wait())) return;
      }
    }
  }

  // It ends with the signal; a defect is told like any other.
  follow().catch((error: unknown) => notes.log.error({ err: error }, 'following the feed failed'));
  return {
    cursor: () => cursor,
    hasNews: () => unread.length > 0,
    news: () => (unread.length > 0 ? Promise.resolve() : arrived.promise),
    take() {
      const taken = unread;
      unread = [];
      drained.resolve();
      [drained, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
      return taken;
    },
  };
}
