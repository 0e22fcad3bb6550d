import type { RequestRecord } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/gatewayError.ts';
import { choosePause } from '../http/choosePause.ts';
import { sleep } from '../http/signals.ts';
import { isTransient } from '../http/withRetries.ts';
import { type CallOptions, readPage } from '../requests/getRequest.ts';
import type { RelayerContext } from './moveRequest.ts';

/** Where in the feed of a chain to begin. */
export interface FeedStart extends CallOptions {
  readonly chainName: string;
  /** Of a page that has been dealt with; absent: from the oldest pending request on. */
  readonly cursor?: string | undefined;
  /** `now`: only what becomes pending from here on. */
  readonly from?: 'now' | undefined;
}

/** Where a page of the feed begins, and how long the gateway may wait for one. */
export interface FeedQuery extends FeedStart {
  /** Seconds, 0 to 25. */
  readonly wait?: number | undefined;
}

/** Up to 100 requests that have become pending: new, released, or claimed and lapsed. */
export interface FeedPage {
  readonly items: readonly RequestRecord[];
  /** Where the next page begins. */
  readonly cursor: string;
  /** When to ask again, in milliseconds: if the gateway lets no call wait, and there was nothing. */
  readonly askAgainMs?: number | undefined;
}

/** Longest pause between two looks at a gateway that lets none wait, in milliseconds: with the call itself, what is new is seen in two seconds. */
const LONGEST_PAUSE_MS = 1900;

/**
 * Chooses the pause before the feed is read again.
 *
 * @param askAgainMs - of a page
 * @param quiet - pages without a request, one after another
 */
export const chooseFeedPause = (askAgainMs: number, quiet: number) =>
  choosePause(askAgainMs, { quiet, longestMs: LONGEST_PAUSE_MS });

/** Least time between two looks that find nothing, in milliseconds, if the gateway does not wait. */
const PAUSE_MS = 1000;

/**
 * Reads one page of the feed.
 *
 * @throws GatewayError VALIDATION_FAILED also from a gateway that has no feed
 */
export async function readFeed(
  { transport, makeHeaders }: RelayerContext,
  { signal, cursor: seen, ...query }: FeedQuery,
): Promise<FeedPage> {
  const path = '/requests/feed';
  let askAgainMs: number | undefined;
  const onAskAgain = (afterMs?: number) => {
    askAgainMs = afterMs;
  };
  const call = {
    method: 'GET',
    path,
    query: { ...query, seen },
    makeHeaders,
    repeat: 'freely',
    signal,
    onAskAgain,
  } as const;
  const answer = await transport.call(call);
  const { items } = readPage(`GET ${path}`, answer);
  // Read with care until it has shown what it is.
  const { cursor } = Object(answer) as Partial<FeedPage>;
  if (typeof cursor !== 'string') throw unexpectedAnswer(`GET ${path}`, 'page of a feed');
  return { items, cursor, askAgainMs };
}

/**
 * Follows the feed of a chain: each page that holds requests, as soon as there is one. What stays pending is never skipped; a request
 * may come more than once. A gateway that cannot be reached for a while does not end it.
 *
 * @returns pages without an end; keep the `cursor` of a page once it has been dealt with, to go on from there after a restart
 * @throws GatewayError ABORTED, UNAUTHORISED, VALIDATION_FAILED also from a gateway that has no feed
 */
export async function* followFeed(context: RelayerContext, start: FeedStart): AsyncGenerator<FeedPage, never> {
  const { waits, now, policy } = context.transport;
  const { chainName, from, signal } = start;
  let { cursor } = start;
  let quiet = 0;
  for (;;) {
    const askedAtMs = now();
    let leastMs = PAUSE_MS;
    const place = cursor === undefined ? { from } : { cursor };
    const page = await readFeed(context, { chainName, ...place, wait: waits.seconds, signal }).catch(
      (error: unknown) => {
        if (!isTransient(error)) throw error;
        // Whatever it asks for, it is looked for again: else one wrong header would end the following.
        leastMs += Math.min(Object(error).retryAfterMs ?? 0, policy.maxRetryAfterMs);
      },
    );
    const isOnward = page !== undefined && page.items.length > 0 && page.cursor !== cursor;
    if (page && page.items.length > 0) {
      quiet = 0;
      yield page;
    } else if (page?.askAgainMs !== undefined) leastMs = chooseFeedPause(page.askAgainMs, quiet++);
    cursor = page?.cursor ?? cursor;
    // One that has waited at the gateway has lasted longer than this.
    if (!isOnward) await sleep(Math.min(leastMs, askedAtMs + leastMs - now()), signal);
  }
}
