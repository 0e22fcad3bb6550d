import type { Logger } from '../logs/createLogger.ts';

/** Shows a watchdog elsewhere that a program is at work: what is dead, or hangs, calls no more, and the watchdog alerts people. */
export interface Heartbeat {
  /** A round has gone well. Returns at once; at most one call is under way, and one begins in ten seconds. */
  beat(): void;
}

/** Services ask for no more than a call now and then. */
const MIN_INTERVAL_MS = 10_000;
const TIMEOUT_MS = 10_000;

/**
 * Creates the heartbeat.
 *
 * @param options.url - called by GET, as healthchecks.io and the like have it; its path may be a secret; absent: nothing is called
 * @param options.monotonicNow - milliseconds of a clock that is never set
 * @see https://healthchecks.io/docs/http_api/
 */
export function createHeartbeat(options: {
  readonly url: string | undefined;
  readonly log: Logger;
  readonly monotonicNow: () => number;
}): Heartbeat {
  const { url, log, monotonicNow } = options;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let isUnderWay = false;

  async function call(target: string): Promise<void> {
    try {
      const response = await fetch(target, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      await response.body?.cancel();
      if (!response.ok) log.warn({ status: response.status }, 'the heartbeat was not taken');
    } catch {
      // The error may name the URL.
      log.warn({}, 'the heartbeat was not answered');
    }
  }

  return {
    beat() {
      if (url === undefined || isUnderWay || monotonicNow() - begunAtMs < MIN_INTERVAL_MS) return;
      begunAtMs = monotonicNow();
      isUnderWay = true;
      call(url).finally(() => {
        isUnderWay = false;
      });
    },
  };
}
