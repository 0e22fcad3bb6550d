import { setTimeout as pause } from 'node:timers/promises';

/** Pauses between attempts, in milliseconds: doubled each time, with jitter. */
export interface BackOff {
  /** Waits. @returns false where the signal ended it */
  wait(): Promise<boolean>;
}

/**
 * Makes a row of growing pauses.
 *
 * @param options.firstMs - the first pause
 * @param options.maxMs - the longest
 * @param options.random - from 0 to 1; a pause is between half and all of its length
 */
export function createBackOff(options: {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly random: () => number;
  readonly signal: AbortSignal;
}): BackOff {
  let lengthMs = options.firstMs;
  return {
    async wait() {
      const ms = lengthMs * (0.5 + options.random() / 2);
      lengthMs = Math.min(options.maxMs, lengthMs * 2);
      try {
        await pause(ms, undefined, { signal: options.signal });
        return true;
      } catch {
        return false;
      }
    },
  };
}
