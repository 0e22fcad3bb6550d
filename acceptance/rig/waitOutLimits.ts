import { setTimeout as wait } from 'node:timers/promises';

/** Longest wait that a limit may ask for, in seconds: a window and a second. */
const MAX_RETRY_AFTER = 61;
/** Two windows and some: by then a call has had its turn, or the limit is not what it says. */
const GIVE_UP_MS = 150_000;

/**
 * Makes a call, and where a rate limit refuses it waits as it is asked to and makes it again.
 *
 * @param send - makes the call
 * @param retryAfterOf - of a 429, its `Retry-After`; of any other answer, undefined
 * @returns the first answer that is no 429, or the last one after 150 s
 */
export async function waitOutLimits<T>(
  send: () => Promise<T>,
  retryAfterOf: (answer: T) => string | undefined,
): Promise<T> {
  const end = Date.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await send();
    const retryAfter = retryAfterOf(answer);
    if (retryAfter === undefined || Date.now() >= end) return answer;
    await wait(1000 * Math.min(MAX_RETRY_AFTER, Math.max(1, Number(retryAfter))));
  }
}
