/** How long a call has waited, which is no work of ours. */
export interface WaitTiming {
  /** Milliseconds; waits add to it. */
  waitedMs: number;
}
