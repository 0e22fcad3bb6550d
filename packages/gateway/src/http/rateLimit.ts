import type { Awaitable } from '../ports/awaitable.ts';
import { type RateLimitStore, slidingUse, type WindowCounts, type WindowPosition } from '../ports/rateLimitStore.ts';
import { createSemaphore, type Permit } from './createSemaphore.ts';
import { type ApiError, rateLimited } from './errors.ts';
import type { LimitName, RateLimits } from './rateLimits.ts';
import { networkOf } from './request.ts';
import { andThen } from './response.ts';

/** Length of a window. */
const WINDOW_SECONDS = 60;

const wordsOf: Readonly<Record<LimitName, string>> = {
  reads: 'reads',
  writes: 'writes',
  sign: 'signed operations',
  claims: 'claims',
  reports: 'reports',
  'write-bytes': 'bytes of bodies',
  'read-bytes': 'bytes of answers',
  'auth-failures': 'failed authentications',
  'admin-failures': 'failed admin calls',
};

const WINDOW_MS = WINDOW_SECONDS * 1000;

function positionAt(nowMs: number): WindowPosition {
  const window = Math.floor(nowMs / WINDOW_MS);
  // Not the fraction of the quotient, whose last digits the large number of the window has used up.
  return { window, elapsed: (nowMs - window * WINDOW_MS) / WINDOW_MS };
}

/** The hits that have to fit. */
interface Asked {
  readonly limit: number;
  readonly hits: number;
}

/** Whether more hits fit: by the same formula, in the same order, as the stores have it. */
function hasRoom({ current, previous }: WindowCounts, position: WindowPosition, { limit, hits }: Asked): boolean {
  return slidingUse({ current: current + hits, previous }, position) <= limit;
}

/** Whole seconds until the hits fit, at least 1. */
function secondsUntilFree(counts: WindowCounts, nowMs: number, asked: Asked): number {
  const { window } = positionAt(nowMs);
  let seconds = 1;
  for (; seconds < 2 * WINDOW_SECONDS; seconds++) {
    const position = positionAt(nowMs + seconds * 1000);
    if (hasRoom(countsAfter(position.window - window, counts), position, asked)) break;
  }
  return seconds;
}

/** The hits left to a client. */
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

/** An IPv6 client counts once more by its /48, which may use this many times as much. */
const NETWORK_SHARES = 16;

/** Who is counted, and for how much. */
export interface Hit {
  /** Like `relayer:0x…`, or a peer. */
  readonly client: string;
  /** Absent: one. More than the limit itself count as the limit, so that they pass a client that has used none of it. */
  readonly hits?: number;
}

/** The use of the limits, as far as this process knows. */
export interface LimitUse {
  /** Nearest to their limits first. */
  readonly clients: readonly ClientUse[];
  readonly refusals: readonly LimitRefusals[];
}

export interface RateLimiter {
  /** Counts hits, all of them or none. @returns headers of the response @throws ApiError RATE_LIMITED */
  take(name: LimitName, hit: Hit): Awaitable<Readonly<Record<string, string>>>;
  /**
   * Acquires a permit for an act that counts only if it fails, which is its own to count. At most as many of a client's are under way as
   * its limit has room for, since all of them may fail, and at most 100; the others wait. @throws ApiError RATE_LIMITED
   */
  acquire(name: LimitName, client: string): Promise<Permit>;
  /** Acquires a permit for a client that is never refused; a few of its acts are under way at once, and the others wait. */
  acquireKnown(client: string): Promise<Permit>;
  readUse(): LimitUse;
}

const NONE: Readonly<Record<string, string>> = {};

/** A permit under a limit that is off. */
const UNBOUND: Permit = { run: (act) => act(), release: () => undefined };

/** Most attempts of one client under way: a tenth of the verifications that the identity provider is asked for at once. */
const MAX_ATTEMPTS = 100;

/** Most attempts of a known caller under way: what a stranger who gives himself out for it can make the service work. */
const MAX_KNOWN_ATTEMPTS = 8;

/**
 * Makes the limiter: a two-bucket sliding window of one minute a client and limit.
 *
 * @see docs/specification.md LIMIT-1, LIMIT-7
 */
export function createRateLimiter(store: RateLimitStore, limits: RateLimits, now: () => number): RateLimiter {
  const refusals = createRefusalCounter();
  function refusal(
    name: LimitName,
    counts: WindowCounts,
    { nowMs, hits, shares = 1 }: { nowMs: number; hits: number; shares?: number },
  ): ApiError {
    const limit = limits[name] * shares;
    refusals.note(name, positionAt(nowMs).window);
    const seconds = secondsUntilFree(counts, nowMs, { limit, hits });
    return rateLimited(wordsOf[name], seconds, headersOf(name, limit, { remaining: 0, seconds }));
  }

  /** How many more hits fit, at least 1. @throws ApiError RATE_LIMITED */
  function roomOf(name: LimitName, client: string): Awaitable<number> {
    const limit = limits[name];
    const nowMs = now();
    const position = positionAt(nowMs);
    return andThen(store.peek(`${name}:${client}`, position.window), (counts) => {
      if (!hasRoom(counts, position, { limit, hits: 1 })) throw refusal(name, counts, { nowMs, hits: 1 });
      return Math.max(1, Math.floor(limit - slidingUse(counts, position)));
    });
  }

  const acquirePermit = createSemaphore();
  return {
    take(name, { client, hits: asked = 1 }) {
      const limit = limits[name];
      if (limit === 0) return NONE;
      const hits = Math.min(asked, limit);
      const nowMs = now();
      const position = positionAt(nowMs);
      const { window, elapsed } = position;
      return andThen(store.take({ key: `${name}:${client}`, limit, window, elapsed, hits }), ({ allowed, counts }) => {
        if (!allowed) throw refusal(name, counts, { nowMs, hits });
        const remaining = Math.max(0, Math.floor(limit - slidingUse(counts, position)));
        const headers = headersOf(name, limit, { remaining, seconds: Math.ceil((1 - elapsed) * WINDOW_SECONDS) });
        const network = networkOf(client);
        if (network === undefined) return headers;
        // After the client, so that one who is refused does not use up what its neighbours have.
        const wide = { key: `${name}:${network}`, limit: limit * NETWORK_SHARES, window, elapsed, hits };
        return andThen(store.take(wide), (taken) => {
          if (!taken.allowed) throw refusal(name, taken.counts, { nowMs, hits, shares: NETWORK_SHARES });
          return headers;
        });
      });
    },
    async acquire(name, client) {
      if (limits[name] === 0) return UNBOUND;
      const findRoom = () => andThen(roomOf(name, client), (room) => Math.min(room, MAX_ATTEMPTS));
      return await acquirePermit(`${name}:${client}`, findRoom);
    },
    acquireKnown: (client) => acquirePermit(`known:${client}`, () => MAX_KNOWN_ATTEMPTS),
    readUse() {
      const position = positionAt(now());
      return { clients: findNearest(store, limits, position), refusals: refusals.read(position) };
    },
  };
}

/** Callers whose authentication has succeeded before, each from a peer of its own. */
export interface KnownCallers {
  has(caller: string): boolean;
  add(caller: string): void;
}

/** Most callers that are remembered, some 200 bytes each. */
const MAX_KNOWN = 10_000;

/** Creates the memory: the ones that were not heard of for the longest are forgotten first. */
export function createKnownCallers(): KnownCallers {
  const known = new Set<string>();
  return {
    has: (caller) => known.has(caller),
    add(caller) {
      known.delete(caller);
      known.add(caller);
      if (known.size <= MAX_KNOWN) return;
      const [oldest] = known;
      if (oldest !== undefined) known.delete(oldest);
    },
  };
}

/** One client's use of one limit. */
interface ClientUse {
  readonly limit: LimitName;
  /** As it is counted: `relayer:0x…`, `user:…`, `admin`, or a peer. */
  readonly client: string;
  /** Hits that count now. */
  readonly used: number;
  readonly most: number;
}

/** How often a limit has refused. */
interface LimitRefusals {
  readonly limit: LimitName;
  readonly lastMinute: number;
  readonly lastHour: number;
}

/** Most clients that are listed. */
const TOLD_CLIENTS = 20;
/** Clients that are gathered before the nearest of them are chosen. */
const GATHERED_CLIENTS = 500;
const KEPT_MINUTES = 60;

const NO_HITS: WindowCounts = { current: 0, previous: 0 };

/** Ages the counts by `windows` windows without another hit. */
function countsAfter(windows: number, counts: WindowCounts): WindowCounts {
  if (windows === 0) return counts;
  return windows === 1 ? { current: 0, previous: counts.current } : NO_HITS;
}

/** Keeps those that are nearest to their limits. */
const chooseNearest = (uses: readonly ClientUse[]) =>
  uses.toSorted((one, other) => other.used / other.most - one.used / one.most).slice(0, TOLD_CLIENTS);

/** Finds the clients that are nearest to their limits, of those that this process remembers. */
function findNearest(
  { known }: Pick<RateLimitStore, 'known'>,
  limits: RateLimits,
  position: WindowPosition,
): readonly ClientUse[] {
  let nearest: ClientUse[] = [];
  for (const { key, window, counts } of known()) {
    const colon = key.indexOf(':');
    // The limiter has made the key.
    const limit = key.slice(0, colon) as LimitName;
    const used = Math.ceil(slidingUse(countsAfter(position.window - window, counts), position));
    if (used === 0 || limits[limit] === 0) continue;
    const client = key.slice(colon + 1);
    const most = limits[limit] * (client.endsWith('/48') ? NETWORK_SHARES : 1);
    nearest.push({ limit, client, used, most });
    if (nearest.length === GATHERED_CLIENTS) nearest = chooseNearest(nearest);
  }
  return chooseNearest(nearest);
}

/** Refusals by limit, in minutes on the grid of windows. */
interface RefusalCounter {
  note(limit: LimitName, window: number): void;
  /** @returns those of the limits that have refused within the hour */
  read(position: WindowPosition): readonly LimitRefusals[];
}

/** Creates the counter: 60 numbers a limit, and a refusal costs no more than to count it. */
function createRefusalCounter(): RefusalCounter {
  const all = new Map<LimitName, Map<number, number>>();
  return {
    note(limit, window) {
      const minutes = all.get(limit) ?? new Map<number, number>();
      all.set(limit, minutes.set(window, (minutes.get(window) ?? 0) + 1));
      for (const minute of minutes.keys()) {
        if (minute > window - KEPT_MINUTES) break;
        minutes.delete(minute);
      }
    },
    read(position) {
      const { window } = position;
      return [...all].flatMap(([limit, minutes]) => {
        const counts = { current: minutes.get(window) ?? 0, previous: minutes.get(window - 1) ?? 0 };
        let lastHour = 0;
        for (const [minute, refusals] of minutes) if (minute > window - KEPT_MINUTES) lastHour += refusals;
        return lastHour === 0 ? [] : [{ limit, lastMinute: Math.round(slidingUse(counts, position)), lastHour }];
      });
    },
  };
}
