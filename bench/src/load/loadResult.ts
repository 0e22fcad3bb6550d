/** Latencies in milliseconds. */
export interface LatencySummary {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** What one run of load has seen. */
export interface LoadResult {
  /** How many units of work were done: answers, or whole lives. */
  readonly done: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  readonly latencyMs: LatencySummary;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** CPU time of the load process in this run, in seconds. */
  readonly loadCpuSeconds: number;
  /** Ids of the requests that were created, when they were asked for. */
  readonly requestIds: readonly string[];
}
