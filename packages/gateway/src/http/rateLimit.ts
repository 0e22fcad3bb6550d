import type { RateLimitClass } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import { type RateLimitStore, slidingUse, type WindowCounts, type WindowPosition } from '../ports/rateLimitStore.ts';
import { type ApiError, rateLimited } from './errors.ts';
import { andThen } from './response.ts';
import { createSemaphore, type Permit } from './semaphore.ts';

/** Length of a window. */
const WINDOW_SECONDS = 60;

export type LimitName = RateLimitClass | 'admin-failures';

/** Most hits a minute of one client; 0 is off. */
export type RateLimits = Readonly<Record<LimitName, number>>;

const wordsOf: Readonly<Record<LimitName, string>> = {
  reads: 'reads',
  writes: 'writes',
  sign: 'signed operations',
  'admin-failures': 'failed admin calls',
};

const WINDOW_MS = WINDOW_SECONDS * 1000;

function positionAt(nowMs: number): WindowPosition {
  const window = Math.floor(nowMs / WINDOW_MS);
  // Not the fraction of the quotient, whose last digits the large number of the window has used up.
  return { window, elapsed: (nowMs - window * WINDOW_MS) / WINDOW_MS };
}

const NO_HITS: WindowCounts = { current: 0, previous: 0 };

/** Ages the counts by `windows` windows without another hit. */
function countsAfter(windows: number, counts: WindowCounts): WindowCounts {
  if (windows === 0) return counts;
  return windows === 1 ? { current: 0, previous: counts.current } : NO_HITS;
}

/** Whether one more hit fits: by the same formula, in the same order, as the stores have it. */
function hasRoom({ current, previous }: WindowCounts, position: WindowPosition, limit: number): boolean {
  return slidingUse({ current: current + 1, previous }, position) <= limit;
}

/** Whole seconds until one more hit fits, at least 1. */
function secondsUntilFree(counts: WindowCounts, nowMs: number, limit: number): number {
  const { window } = positionAt(nowMs);
  let seconds = 1;
  for (; seconds < 2 * WINDOW_SECONDS; seconds++) {
    const position = positionAt(nowMs + seconds * 1000);
    if (hasRoom(countsAfter(position.window - window, counts), position, limit)) break;
  }
  return seconds;
}

/** What is left to a client. */
interface Quota {
  readonly remaining: number;
  /** Whole seconds until there is more. */
  readonly seconds: number;
}

/** The headers of draft-ietf-httpapi-ratelimit-headers. */
function headersOf(name: LimitName, limit: number, { remaining, seconds }: Quota): Record<string, string> {
  return {
    ratelimit: `"${name}";r=${remaining};t=${seconds}`,
    'ratelimit-policy': `"${name}";q=${limit};w=${WINDOW_SECONDS}`,
  };
}

export interface RateLimiter {
  /** Counts a hit. @returns headers of the response @throws ApiError RATE_LIMITED */
  take(name: LimitName, client: string): Awaitable<Readonly<Record<string, string>>>;
  /**
   * Acquires a permit for an act that counts only if it fails, which is its own to count. At most as many of a client's are under way as
   * its limit has room for, since all of them may fail, and at most 100; the others wait. @throws ApiError RATE_LIMITED
   */
  acquire(name: LimitName, client: string): Promise<Permit>;
}

const NONE: Readonly<Record<string, string>> = {};

/** A permit under a limit that is off. */
const UNBOUND: Permit = { run: (act) => act(), release: () => undefined };

/** Most attempts of one client under way: a tenth of the verifications that the identity provider is asked for at once. */
const MAX_ATTEMPTS = 100;

/**
 * Makes the limiter: a two-bucket sliding window of one minute a client and limit.
 *
 * @see docs/specification.md LIMIT-1, LIMIT-7
 */
export function createRateLimiter(store: RateLimitStore, limits: RateLimits, now: () => number): RateLimiter {
  function refusal(name: LimitName, counts: WindowCounts, nowMs: number): ApiError {
    const limit = limits[name];
    const seconds = secondsUntilFree(counts, nowMs, limit);
    return rateLimited(wordsOf[name], seconds, headersOf(name, limit, { remaining: 0, seconds }));
  }

  /** How many more hits fit, at least 1. @throws ApiError RATE_LIMITED */
  function roomOf(name: LimitName, client: string): Awaitable<number> {
    const limit = limits[name];
    const nowMs = now();
    const position = positionAt(nowMs);
    return andThen(store.peek(`${name}:${client}`, position.window), (counts) => {
      if (!hasRoom(counts, position, limit)) throw refusal(name, counts, nowMs);
      return Math.max(1, Math.floor(limit - slidingUse(counts, position)));
    });
  }

  const acquirePermit = createSemaphore();
  return {
    take(name, client) {
      const limit = limits[name];
      if (limit === 0) return NONE;
      const nowMs = now();
      const position = positionAt(nowMs);
      const { window, elapsed } = position;
      return andThen(store.take({ key: `${name}:${client}`, limit, window, elapsed }), ({ allowed, counts }) => {
        if (!allowed) throw refusal(name, counts, nowMs);
        const remaining = Math.max(0, Math.floor(limit - slidingUse(counts, position)));
        return headersOf(name, limit, { remaining, seconds: Math.ceil((1 - elapsed) * WINDOW_SECONDS) });
      });
    },
    async acquire(name, client) {
      if (limits[name] === 0) return UNBOUND;
      const findRoom = () => andThen(roomOf(name, client), (room) => Math.min(room, MAX_ATTEMPTS));
      return await acquirePermit(`${name}:${client}`, findRoom);
    },
  };
}
