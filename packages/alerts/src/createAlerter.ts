import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@prism-gateway/runtime/logs';
import { AlertRefusedError } from './AlertRefusedError.ts';
import type { Alert, AlertChannel } from './alert.ts';

/** How an alerter works. */
export interface AlerterOptions {
  readonly channels: readonly AlertChannel[];
  readonly log: Logger;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Tries of one delivery; default 8. */
  readonly maxTries?: number;
  /** Pause before the second try, doubled for each further one; default 1000. */
  readonly firstPauseMs?: number;
  /** Time for one try; default 15,000. */
  readonly tryTimeoutMs?: number;
}

/** Tells people, and never keeps anyone waiting. */
export interface Alerter {
  /**
   * Returns at once; never throws.
   *
   * @param alert - what to tell
   * @param onSettled - told once whether somebody can know: a channel has taken it, or there is none but the log; not, once all have given it up
   */
  raise(alert: Alert, onSettled?: (isTold: boolean) => void): void;
  /** Waits until all that was raised is delivered or given up, or the time is over. */
  drain(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Longest pause between two tries. */
const MAX_PAUSE_MS = 300_000;
/** Alerts that wait for a channel; a flood must not fill the memory. */
const MAX_WAITING = 1000;

/** Delivers to one channel, in order. */
function createLane(channel: AlertChannel, options: AlerterOptions, closing: AbortSignal) {
  const { log, redact, maxTries = 8, firstPauseMs = 1000, tryTimeoutMs = 15_000 } = options;
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  async function attempt(alert: Alert): Promise<unknown> {
    try {
      await channel.deliver(alert, AbortSignal.any([closing, AbortSignal.timeout(tryTimeoutMs)]));
      return undefined;
    } catch (error) {
      return error ?? new Error('failed');
    }
  }

  /** @returns whether the channel has taken it */
  async function deliver(alert: Alert): Promise<boolean> {
    for (let tries = 1; !closing.aborted; tries++) {
      const error = await attempt(alert);
      const fields = { channel: channel.name, code: alert.code, tries };
      if (error === undefined) {
        log.info(fields, 'alert delivered');
        return true;
      }
      const reason = redact(error instanceof Error ? error.message : `${error}`);
      if (tries >= maxTries) {
        log.error({ ...fields, reason, subject: alert.subject }, 'alert given up');
        return false;
      }
      log.warn({ ...fields, reason }, 'alert not delivered; it is tried again');
      const asked = error instanceof AlertRefusedError ? (error.retryAfterMs ?? 0) : 0;
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(asked, firstPauseMs * 2 ** (tries - 1)));
      await pause(pauseMs, undefined, { signal: closing }).catch(() => undefined);
    }
    return false;
  }

  return {
    add(alert: Alert, onSettled: (isTaken: boolean) => void): void {
      if (waiting >= MAX_WAITING) {
        log.error({ channel: channel.name, code: alert.code }, 'alert dropped: too many wait');
        onSettled(false);
        return;
      }
      waiting++;
      // Neither `deliver` nor who is told ever throws.
      last = last.then(async () => {
        const isTaken = await deliver(alert);
        waiting--;
        onSettled(isTaken);
      });
    },
    idle: () => last,
  };
}

/** Takes the word of each channel: the first to take an alert settles it, or the last to give it up. */
function settleOnce(channels: number, onSettled: (isTold: boolean) => void): (isTaken: boolean) => void {
  let open = channels;
  let isTold = false;
  return (isTaken) => {
    open--;
    if (isTold) return;
    isTold = isTaken;
    if (isTold || open === 0) onSettled(isTold);
  };
}

/**
 * Creates an alerter: every alert is logged, and delivered to each channel, tried again with growing pauses.
 *
 * @param options - channels, log and patience
 * @returns the alerter
 */
export function createAlerter(options: AlerterOptions): Alerter {
  const closing = new AbortController();
  const lanes = options.channels.map((channel) => createLane(channel, options, closing.signal));
  return {
    raise(alert, onSettled = () => undefined) {
      const clean = { ...alert, subject: options.redact(alert.subject), text: options.redact(alert.text) };
      options.log.warn({ alert: clean.code, severity: clean.severity, text: clean.text }, clean.subject);
      if (lanes.length === 0) return onSettled(true);
      const settle = settleOnce(lanes.length, onSettled);
      for (const lane of lanes) lane.add(clean, settle);
    },
    async drain(timeoutMs) {
      const timer = new AbortController();
      const late = pause(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
      await Promise.race([Promise.all(lanes.map((lane) => lane.idle())), late]);
      timer.abort();
    },
    close() {
      closing.abort();
      for (const channel of options.channels) channel.close();
    },
  };
}
