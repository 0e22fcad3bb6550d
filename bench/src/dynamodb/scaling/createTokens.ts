/** A limit by rate, as API Gateway and DynamoDB have them: what is not used within a while is gone. */
export interface Tokens {
  /** @returns false where there are fewer left; none is taken then */
  take(count: number): boolean;
  /** Lets time pass. */
  advance(seconds: number): void;
}

/**
 * Makes a token bucket, full.
 *
 * @param rate - tokens a second
 * @param burst - tokens that it holds at most
 */
export function createTokens(rate: number, burst: number): Tokens {
  let left = burst;
  return {
    take(count) {
      if (left < count) return false;
      left -= count;
      return true;
    },
    advance(seconds) {
      left = Math.min(burst, left + rate * seconds);
    },
  };
}
