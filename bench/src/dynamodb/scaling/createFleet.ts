import type { Tokens } from './createTokens.ts';
import { createTokens } from './createTokens.ts';

/** New instances that Lambda starts for a function in ten seconds. @see https://docs.aws.amazon.com/lambda/latest/dg/scaling-behavior.html */
const NEW_IN_TEN_SECONDS = 1000;
const TEN = 10;

/** The instances of the function. */
export interface Fleet {
  /** Takes an instance for a call. @returns whether it is warm or must start first; undefined: there is none */
  take(): 'warm' | 'cold' | undefined;
  release(): void;
  advance(seconds: number): void;
  /** Most that were busy at once. */
  readonly peak: number;
}

/**
 * Models the instances of a function: one call at a time each, as many as are reserved.
 *
 * @param limit - `RESERVED_CONCURRENCY`
 */
export function createFleet(limit: number): Fleet {
  const starts: Tokens = createTokens(NEW_IN_TEN_SECONDS / TEN, NEW_IN_TEN_SECONDS);
  let [idle, busy, peak] = [0, 0, 0];
  return {
    take() {
      const isWarm = idle > 0;
      if (!isWarm && (busy >= limit || !starts.take(1))) return undefined;
      if (isWarm) idle--;
      busy++;
      peak = Math.max(peak, busy);
      return isWarm ? 'warm' : 'cold';
    },
    release() {
      busy--;
      idle++;
    },
    advance: starts.advance,
    get peak() {
      return peak;
    },
  };
}
