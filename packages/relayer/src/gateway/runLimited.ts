/**
 * Does something for each of a list, with a bound on how many are under way at once.
 *
 * @param run.list - each is done once
 * @param run.limit - most at once
 * @param run.act - what it throws ends the run once those under way have ended
 * @throws what `act` threw first
 */
export async function runLimited<T>(run: {
  readonly list: readonly T[];
  readonly limit: number;
  readonly act: (item: T) => Promise<void>;
}): Promise<void> {
  const rest = run.list.values();
  const errors: unknown[] = [];
  async function runLane(): Promise<void> {
    // The lanes share one iterator.
    for (const item of rest) {
      if (errors.length > 0) return;
      await run.act(item).catch((error: unknown) => errors.push(error));
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.limit, run.list.length) }, runLane));
  if (errors.length > 0) throw errors[0];
}
