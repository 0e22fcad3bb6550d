import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** Waits until nobody answers at a URL any more. @throws the signal's reason */
export async function waitUntilSilent(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await fetch(url, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      return;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}
