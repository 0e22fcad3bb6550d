import type { RateLimitClass } from '@prism-gateway/protocol';
import { type RateLimitStore, slidingUse, type WindowCounts, type WindowPosition } from '../ports/rateLimitStore.ts';
import { type ApiError, rateLimited } from './errors.ts';

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

function positionAt(nowMs: number): WindowPosition {
  const windows = nowMs / (WINDOW_SECONDS * 1000);
  const window = Math.floor(windows);
  return { window, elapsed: windows - window };
}

/** Whole seconds until one more hit would fit, at least 1. */
function secondsUntilFree(counts: WindowCounts, position: WindowPosition, limit: number): number {
  const room = limit - 1 - counts.current;
  const windows =
    room >= 0
      ? 1 - room / Math.max(counts.previous, 1) - position.elapsed
      : 1 - position.elapsed + Math.max(0, 1 - (limit - 1) / counts.current);
  return Math.max(1, Math.ceil(windows * WINDOW_SECONDS));
}

/** The headers of draft-ietf-httpapi-ratelimit-headers. */
function headersOf(name: LimitName, limit: number, use: number, position: WindowPosition): Record<string, string> {
  const remaining = Math.max(0, Math.floor(limit - use));
  const reset = Math.ceil((1 - position.elapsed) * WINDOW_SECONDS);
  return {
    ratelimit: `"${name}";r=${remaining};t=${reset}`,
    'ratelimit-policy': `"${name}";q=${limit};w=${WINDOW_SECONDS}`,
  };
}

export interface RateLimiter {
  /** Counts a hit. @returns headers of the answer @throws ApiError RATE_LIMITED */
  take(name: LimitName, client: string): Promise<Readonly<Record<string, string>>>;
  /** Refuses a client that is over its limit, and counts nothing. @throws ApiError RATE_LIMITED */
  check(name: LimitName, client: string): Promise<void>;
}

const NONE: Readonly<Record<string, string>> = {};

/**
 * Makes the limiter: a two-bucket sliding window of one minute a client and limit.
 *
 * @see DECISIONS.md, "Rate limits"
 */
export function createRateLimiter(store: RateLimitStore, limits: RateLimits, now: () => number): RateLimiter {
  function refusal(name: LimitName, counts: WindowCounts, position: WindowPosition): ApiError {
    const limit = limits[name];
    return rateLimited(
      wordsOf[name],
      secondsUntilFree(counts, position, limit),
      headersOf(name, limit, limit, position),
    );
  }
  return {
    async take(name, client) {
      const limit = limits[name];
      if (limit === 0) return NONE;
      const position = positionAt(now());
      const { allowed, counts } = await store.take({ key: `${name}:${client}`, limit, ...position });
      if (!allowed) throw refusal(name, counts, position);
      return headersOf(name, limit, slidingUse(counts, position), position);
    },
    async check(name, client) {
      const limit = limits[name];
      if (limit === 0) return;
      const position = positionAt(now());
      const counts = await store.peek(`${name}:${client}`, position.window);
      if (slidingUse(counts, position) + 1 > limit) throw refusal(name, counts, position);
    },
  };
}
