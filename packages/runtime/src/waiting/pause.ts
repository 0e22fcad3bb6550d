import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits.
 *
 * @param ms - how long, in milliseconds
 * @param signal - ends the wait
 * @returns whether the whole time has passed: false when the signal ended the wait
 */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
