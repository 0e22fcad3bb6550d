/** A round of work, again and again, never two at once. */
export interface Loop {
  /** Has a round begin after `delayMs` at the latest. */
  schedule(delayMs: number): void;
  /** Begins no more rounds, and waits for the one that runs. */
  stop(): Promise<void>;
}

/**
 * Runs rounds when they are due. Asked for during a round, the next one follows it.
 *
 * @param round - does the work; returns in how many milliseconds it is due again, or undefined: when it is asked for. Must not throw
 */
export function createLoop(round: () => Promise<number | undefined>): Loop {
  let timer: NodeJS.Timeout | undefined;
  let dueAtMs = Number.POSITIVE_INFINITY;
  let running: Promise<void> | undefined;
  let isStopped = false;

  function schedule(delayMs: number): void {
    const atMs = performance.now() + delayMs;
    if (isStopped || atMs >= dueAtMs) return;
    dueAtMs = atMs;
    clearTimeout(timer);
    if (running === undefined) timer = setTimeout(begin, delayMs);
  }

  async function run(): Promise<void> {
    const delayMs = await round();
    running = undefined;
    const askedInMs = dueAtMs - performance.now();
    dueAtMs = Number.POSITIVE_INFINITY;
    const nextMs = Math.min(askedInMs, delayMs ?? Number.POSITIVE_INFINITY);
    if (nextMs !== Number.POSITIVE_INFINITY) schedule(Math.max(0, nextMs));
  }

  function begin(): void {
    dueAtMs = Number.POSITIVE_INFINITY;
    running = run();
  }

  return {
    schedule,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
