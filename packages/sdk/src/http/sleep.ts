/**
 * Waits.
 *
 * @param delayMs - milliseconds
 * @param signal - ends the wait early; ask it why
 */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted ? 0 : delayMs);
    signal?.addEventListener('abort', end);
  });
}
