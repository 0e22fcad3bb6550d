import { type RateLimitStore, slidingUse, type WindowCounts, type WindowPosition } from '../ports/rateLimitStore.ts';
import type { LimitName, RateLimits } from './rateLimits.ts';

/** What one client has used of one limit. */
export interface ClientUse {
  readonly limit: LimitName;
  /** As it is counted: `relayer:0x…`, `user:…`, `admin`, or a peer. */
  readonly client: string;
  /** Hits that count now. */
  readonly used: number;
  readonly most: number;
}

/** How often a limit has refused. */
export interface LimitRefusals {
  readonly limit: LimitName;
  readonly lastMinute: number;
  readonly lastHour: number;
}

/** Most clients that are told. */
const TOLD_CLIENTS = 20;
/** Clients that are gathered before the nearest of them are chosen. */
const GATHERED_CLIENTS = 500;
const KEPT_MINUTES = 60;

const NO_HITS: WindowCounts = { current: 0, previous: 0 };

/** Ages the counts by `windows` windows without another hit. */
export function countsAfter(windows: number, counts: WindowCounts): WindowCounts {
  if (windows === 0) return counts;
  return windows === 1 ? { current: 0, previous: counts.current } : NO_HITS;
}

/** Keeps those that are nearest to their limits. */
const chooseNearest = (uses: readonly ClientUse[]) =>
  uses.toSorted((one, other) => other.used / other.most - one.used / one.most).slice(0, TOLD_CLIENTS);

/**
 * Finds the clients that are nearest to their limits, of those that this process remembers.
 *
 * @returns nearest first, at most 20
 */
export function findNearest(
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
    nearest.push({ limit, client: key.slice(colon + 1), used, most: limits[limit] });
    if (nearest.length === GATHERED_CLIENTS) nearest = chooseNearest(nearest);
  }
  return chooseNearest(nearest);
}

/** Refusals by limit, in minutes on the grid of windows. */
export interface RefusalCounter {
  note(limit: LimitName, window: number): void;
  /** @returns those of the limits that have refused within the hour */
  read(position: WindowPosition): readonly LimitRefusals[];
}

/** Creates the counter: 60 numbers a limit, and a refusal costs no more than to count it. */
export function createRefusalCounter(): RefusalCounter {
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
