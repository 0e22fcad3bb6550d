import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 100;

/**
 * Asks again until the answer is as wanted. For what a store may show late (list indexes), and what only time brings about
 * (an expiry); where it is there at once, nothing is waited for.
 *
 * @param ask - throws, by an assertion, while the answer is not as wanted
 * @param limitMs - after this long, the last assertion's error is thrown
 */
export async function eventually<T>(ask: () => Promise<T>, limitMs = 60_000): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() >= end) throw error;
      await wait(PAUSE_MS);
    }
  }
}
