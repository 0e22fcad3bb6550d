import { setTimeout as sleep } from 'node:timers/promises';

/** How patiently something is tried again. */
export interface BackOffPolicy {
  /** The first pause, in milliseconds; each further one is twice as long. */
  readonly firstMs: number;
  /** The longest pause, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Chooses the pause before another try: between half and all of a length that doubles with each failure, so that those who failed
 * together do not come back together; and not before the time that the other side has asked for.
 *
 * @param state.failures - tries that have failed in a row, from 1
 * @param state.random - from 0 to 1
 * @param state.askedMs - what `Retry-After` asks for, in milliseconds
 * @returns milliseconds
 */
export function chooseBackOff(
  policy: BackOffPolicy,
  state: { readonly failures: number; readonly random: number; readonly askedMs?: number | undefined },
): number {
  const { failures, random, askedMs = 0 } = state;
  const lengthMs = Math.min(policy.maxMs, policy.firstMs * 2 ** (failures - 1));
  return askedMs + lengthMs * (0.5 + random / 2);
}

/** A row of growing pauses. */
export interface BackOff {
  /**
   * Waits out the next pause.
   *
   * @param askedMs - what `Retry-After` asks for, in milliseconds
   * @returns whether the whole pause has passed: false when the signal ended it
   */
  wait(askedMs?: number): Promise<boolean>;
  /** Begins again with the first pause: a try has succeeded. */
  reset(): void;
}

/**
 * Makes a row of growing pauses.
 *
 * @param options.random - from 0 to 1
 * @param options.signal - ends a pause
 * @param options.wait - waits out milliseconds and says whether they have passed; by default `pause`, the machine's clock
 * @see chooseBackOff
 * @example
 * const backOff = createBackOff({ firstMs: 200, maxMs: 5000, random: Math.random, signal });
 * do {
 *   if (await tryOnce()) return;
 * } while (await backOff.wait());
 */
export function createBackOff(
  options: BackOffPolicy & {
    readonly random: () => number;
    readonly signal: AbortSignal;
    readonly wait?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  },
): BackOff {
  const { random, signal, wait = pause } = options;
  let failures = 0;
  return {
    wait(askedMs) {
      failures += 1;
      return wait(chooseBackOff(options, { failures, random: random(), askedMs }), signal);
    },
    reset() {
      failures = 0;
    },
  };
}

/**
 * Waits.
 *
 * @param ms - how long, in milliseconds
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
