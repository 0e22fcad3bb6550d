/** The longest that a timer takes; for more it ends at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits.
 *
 * @param delayMs - milliseconds; more than 24 days are 24 days
 * @param signal - ends the wait early; ask it why
 */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : Math.min(delayMs, LONGEST_MS));
    signal?.addEventListener('abort', end);
  });
}
