import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until something holds; it is looked at often.
 *
 * @throws Error if it does not come to hold in time
 */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  options: { readonly timeoutMs: number; readonly what: string },
): Promise<void> {
  const endMs = performance.now() + options.timeoutMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`in vain for ${options.timeoutMs} ms: ${options.what}`);
    await pause(15);
  }
}
