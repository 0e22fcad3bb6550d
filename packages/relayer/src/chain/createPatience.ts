import { setTimeout as sleep } from 'node:timers/promises';

/** How long a node is waited for that was silent before, in milliseconds. */
const GRACE_MS = 1000;

/** Waits for an answer. @returns undefined where there is none */
export type Patience = <T>(asked: Promise<T | undefined>) => Promise<T | undefined>;

/**
 * Makes the patience with one node: it is waited for in full until it has been silent once, and then for a moment only, until it answers
 * again. So a node that has died holds up what is asked first, and nothing after that.
 */
export function createPatience(isKnownSilent = false): Patience {
  let isSilent = isKnownSilent;
  return async function wait(asked) {
    const answered = asked.then((answer) => {
      isSilent = answer === undefined;
      return answer;
    });
    if (!isSilent) return await answered;
    const over = new AbortController();
    const late = sleep(GRACE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    try {
      return await Promise.race([answered, late]);
    } finally {
      over.abort();
    }
  };
}
