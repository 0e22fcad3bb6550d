/** Lets calls through by a rate, as API Gateway's throttle does. */
export interface Throttle {
  /** @param at - milliseconds since the beginning of the play, never less than before @returns false: 429 */
  take(at: number): boolean;
}

/**
 * Makes API Gateway's throttle, a full token bucket.
 *
 * @param rate - calls a second
 * @param burst - calls at once
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-throttling.html
 */
export function createThrottle(rate: number, burst: number): Throttle {
  let [left, last] = [burst, 0];
  return {
    take(at) {
      left = Math.min(burst, left + ((at - last) / 1000) * rate);
      last = at;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
