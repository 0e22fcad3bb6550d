import type { Health } from '../lifecycle/createHealth.ts';

/** Statuses that say that this relayer is let in to nothing. */
const REFUSED = [401, 403];

/** By how much clocks may differ, in milliseconds: the gateway refuses signatures from five minutes on. */
const MAX_SKEW_MS = 60_000;

/** The answer was dated between the question and its end, in whole seconds. */
function compareClocks(
  health: Pick<Health, 'noteWell' | 'noteFailure'>,
  {
    date,
    askedAtMs,
    answeredAtMs,
  }: { readonly date: string | null; readonly askedAtMs: number; readonly answeredAtMs: number },
): void {
  const theirsMs = Date.parse(date ?? '');
  if (Number.isNaN(theirsMs)) return;
  const aheadMs = askedAtMs - theirsMs - 1000;
  const behindMs = theirsMs - answeredAtMs;
  const off =
    aheadMs > 0 ? `${Math.round(aheadMs / 1000)} seconds ahead of` : `${Math.round(behindMs / 1000)} seconds behind`;
  if (Math.max(aheadMs, behindMs) <= MAX_SKEW_MS) health.noteWell('clock');
  else health.noteFailure('clock', `it is ${off} the gateway's; set the clock of this machine, or of the gateway's`);
}

/**
 * Watches calls of the gateway: whether it answers, and lets this relayer in.
 *
 * @param fetch - makes the calls
 * @param watch.health - told of each answer, and of a clock that is not the gateway's
 * @param watch.now - Unix time in milliseconds
 * @param watch.onReturn - told when the gateway answers again that did not answer before
 * @returns the same function, watched
 */
export function watchFetch(
  fetch: typeof globalThis.fetch,
  watch: {
    readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
    readonly now: () => number;
    readonly onReturn?: () => void;
  },
): typeof fetch {
  const { health, now, onReturn } = watch;
  let isAway = false;
  return async function watchedFetch(input, init) {
    try {
      const askedAtMs = now();
      const response = await fetch(input, init);
      const { status } = response;
      compareClocks(health, { date: response.headers.get('date'), askedAtMs, answeredAtMs: now() });
      if (status >= 500 || REFUSED.includes(status)) health.noteFailure('gateway', `it answers ${status}`);
      else health.noteWell('gateway');
      if (isAway && status < 500) {
        isAway = false;
        onReturn?.();
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
