import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
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
  /** Returns at once; never throws. */
  raise(alert: Alert): void;
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

  async function deliver(alert: Alert): Promise<void> {
    for (let tries = 1; !closing.aborted; tries++) {
      const error = await attempt(alert);
      const fields = { channel: channel.name, code: alert.code, tries };
      if (error === undefined) return log.info(fields, 'alert delivered');
      const reason = redact(error instanceof Error ? error.message : `${error}`);
      if (tries >= maxTries) return log.error({ ...fields, reason, subject: alert.subject }, 'alert given up');
      log.warn({ ...fields, reason }, 'alert not delivered; it is tried again');
      const asked = error instanceof AlertRefusedError ? (error.retryAfterMs ?? 0) : 0;
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(asked, firstPauseMs * 2 ** (tries - 1)));
      await pause(pauseMs, undefined, { signal: closing }).catch(() => undefined);
    }
  }

  return {
    add(alert: Alert): void {
      if (waiting >= MAX_WAITING) {
        log.error({ channel: channel.name, code: alert.code }, 'alert dropped: too many wait');
        return;
      }
      waiting++;
      // `deliver` never throws.
      last = last.then(() => deliver(alert)).finally(() => waiting--);
    },
    idle: () => last,
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
    raise(alert) {
      const clean = { ...alert, subject: options.redact(alert.subject), text: options.redact(alert.text) };
      options.log.warn({ alert: clean.code, severity: clean.severity, text: clean.text }, clean.subject);
      for (const lane of lanes) lane.add(clean);
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
