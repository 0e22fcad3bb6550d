/**
 * Does something for each of a list, with a bound on how many are under way at once.
 *
 * @param run.list - each is done once
 * @param run.limit - most at once
 * @param run.act - what it throws ends the run once those under way have ended
 */
export async function runLimited<T>(run: {
  readonly list: readonly T[];
  readonly limit: number;
  readonly act: (item: T) => Promise<void>;
}): Promise<void> {
  const rest = run.list.values();
  async function runLane(): Promise<void> {
    // The lanes share one iterator.
    for (const item of rest) await run.act(item);
  }
  const lanes = Array.from({ length: Math.min(run.limit, run.list.length) }, runLane);
  const ended = await Promise.allSettled(lanes);
  const failed = ended.find((lane) => lane.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
