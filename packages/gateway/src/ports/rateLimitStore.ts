/** Hits of one client in the current and the previous window. */
export interface WindowCounts {
  readonly current: number;
  readonly previous: number;
}

/**
 * Port: counters of a two-bucket sliding window. Buckets are numbered `floor(now / windowMs)`; a store only counts,
 * the arithmetic is `queue`-free and the same for all (see `http/rateLimit.ts`).
 */
export interface RateLimitStore {
  /** Adds one hit to the bucket and returns the counts with it. */
  hit(key: string, bucket: number): Promise<WindowCounts>;
  /** The counts as they stand. */
  peek(key: string, bucket: number): Promise<WindowCounts>;
}
