import type { Health } from '../lifecycle/createHealth.ts';

/** Statuses that say that this relayer is let in to nothing. */
const REFUSED = [401, 403];

/**
 * Watches calls of the gateway: whether it answers, and lets this relayer in.
 *
 * @param fetch - makes the calls
 * @param health - told of each answer
 * @param onReturn - told when the gateway answers again that did not answer before
 * @returns the same function, watched
 */
export function watchFetch(
  fetch: typeof globalThis.fetch,
  health: Pick<Health, 'noteWell' | 'noteFailure'>,
  onReturn: () => void = () => undefined,
): typeof fetch {
  let isAway = false;
  return async function watchedFetch(input, init) {
    try {
      const response = await fetch(input, init);
      const { status } = response;
      if (status >= 500 || REFUSED.includes(status)) health.noteFailure('gateway', `it answers ${status}`);
      else health.noteWell('gateway');
      if (isAway && status < 500) {
        isAway = false;
        onReturn();
      }
      return response;
    } catch (error) {
      // Whoever gives up waiting says nothing of the gateway.
      if (init?.signal?.aborted !== true) {
        isAway = true;
        health.noteFailure('gateway', 'it does not answer');
      }
      throw error;
    }
  };
}
