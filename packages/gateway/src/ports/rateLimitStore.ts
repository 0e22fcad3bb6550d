import type { Awaitable } from './awaitable.ts';

/** Hits of one client in the current window and the one before it. */
export interface WindowCounts {
  readonly current: number;
  readonly previous: number;
}

/** A place in time on the grid of windows. */
export interface WindowPosition {
  /** Number of the current window: `floor(now / windowMs)`. */
  readonly window: number;
  /** How much of the current window has passed, 0 to 1. */
  readonly elapsed: number;
}

/**
 * A client's use of its limit: the current window's hits, and those of the window before in proportion to how much of it the sliding window
 * still covers. Every store decides by this one formula.
 */
export function slidingUse(counts: WindowCounts, position: WindowPosition): number {
  return counts.current + counts.previous * (1 - position.elapsed);
}

export interface Take extends WindowPosition {
  /** Class and client, like `reads:ip:192.0.2.1`. */
  readonly key: string;
  /** Most hits in any one sliding window. */
  readonly limit: number;
  /** How many hits come at once: all of them are taken, or none. Absent: one. */
  readonly hits?: number;
}

export interface TakeResult {
  readonly allowed: boolean;
  /** The counts after the hits, or as they stand when they were refused: what is refused is not counted. */
  readonly counts: WindowCounts;
}

/** Hits of one client, as a process remembers them. */
export interface KnownHits {
  /** As in `Take`. */
  readonly key: string;
  /** The window that is `current`; it may lie back. */
  readonly window: number;
  readonly counts: WindowCounts;
}

/** Port: counters of a two-bucket sliding window. Throws `DependencyUnavailableError` only. */
export interface RateLimitStore {
  /** Counts hits, unless `slidingUse` would pass the limit with them. */
  take(take: Take): Awaitable<TakeResult>;
  /** Reads the counts and counts nothing. */
  peek(key: string, window: number): Awaitable<WindowCounts>;
  /** The clients whose hits this process has counted; it asks nobody, and does not know other processes' clients. */
  known(): Iterable<KnownHits>;
}
