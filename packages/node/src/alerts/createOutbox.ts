import type { Logger } from '../logs/index.ts';
import { chooseBackOff, pause } from '../waiting/backOff.ts';
import { type Alert, type AlertChannel, type Alerter, AlertRefusedError } from './alert.ts';
import { chooseMessage, type Message } from './chooseMessage.ts';
import type { Delivery, OutboxTable, WaitingAlert } from './createOutboxTable.ts';

/** How an outbox works. */
interface OutboxOptions {
  readonly outbox: OutboxTable;
  readonly channels: readonly AlertChannel[];
  readonly log: Logger;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Ends each text: which instance on which chain. */
  readonly signature: string;
  /** Says what to do about alerts of a code, and where that is written; undefined: nothing. */
  readonly guide?: (code: string) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly firstPauseMs?: number;
  readonly tryTimeoutMs?: number;
}

const HOUR_MS = 3_600_000;
/** Longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 300_000;
/** Pause after the journal could not be read, in milliseconds. */
const JOURNAL_PAUSE_MS = 5000;
/** Tries of a message that is refused for what it says, then others have their turn. */
const MAX_REFUSALS = 3;
/** Statuses by which a service refuses a message, and not whoever sends it. */
const REFUSES_MESSAGE: readonly unknown[] = [400, 413, 415, 422];
/** Whether a message was refused for what it says, as by a filter against spam: the next one may pass. */
function isRefusedAsSuch(error: unknown): boolean {
  if (error instanceof AlertRefusedError) return REFUSES_MESSAGE.includes(error.status);
  // As nodemailer has it: the server has refused what came after the addresses.
  const { command, responseCode } = Object(error);
  return command === 'DATA' && responseCode >= 500;
}

/** Delivers to one channel, for as long as it takes. */
function createLane(channel: AlertChannel, options: OutboxOptions, closing: AbortSignal) {
  const { outbox, log, redact, signature, guide, now, firstPauseMs = 1000, tryTimeoutMs = 15_000 } = options;
  const { name } = channel;
  /** Delivered, and not written down as such: the disk may be full. */
  const unmarked = new Set<number>();
  /** Messages that these were in. */
  let unmarkedMessages: Delivery[] = [];
  /** How often alerts of a code were refused for what they say: they have their turn after the others. */
  const refusals = new Map<string, number>();
  /** Alerts that could not be written to disk at all. */
  const unwritten: Alert[] = [];
  let woken = Promise.withResolvers<void>();
  let idle = Promise.withResolvers<void>();
  let isIdle = false;
  let isWoken = false;

  // Once: a listener for each wait would stay until the end.
  closing.addEventListener('abort', () => woken.resolve(), { once: true });

  function rest(): void {
    isIdle = true;
    idle.resolve();
  }

  /** Waits for a time, or until there is something new, or the end. */
  async function untilWoken(ms: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([pause(ms, over.signal), woken.promise]);
    over.abort();
  }

  /** @param hasOthers - whether others are next that are not refused yet @returns whether it was delivered */
  async function deliver({ ids, alert }: Message, hasOthers: boolean): Promise<boolean> {
    const lines = [alert.text, guide?.(alert.code), signature].filter((line) => line !== undefined);
    const clean = { ...alert, subject: redact(alert.subject), text: redact(lines.join('\n')) };
    for (let failures = 1 + (refusals.get(alert.code) ?? 0); !closing.aborted; failures++) {
      try {
        await channel.deliver(clean, AbortSignal.any([closing, AbortSignal.timeout(tryTimeoutMs)]));
        log.info({ channel: name, code: alert.code, alerts: ids.length }, 'alert delivered');
        for (const id of ids) unmarked.add(id);
        // Each has a time of its own, so that they can be counted.
        const atMs = Math.max(now(), (unmarkedMessages.at(-1)?.atMs ?? 0) + 1);
        unmarkedMessages.push({ atMs, code: alert.code, severity: alert.severity });
        refusals.delete(alert.code);
        return true;
      } catch (error) {
        const reason = redact(error instanceof Error ? error.message : `${error}`);
        log.warn({ channel: name, code: alert.code, failures, reason }, 'alert not delivered; it is tried again');
        const askedMs = error instanceof AlertRefusedError ? error.retryAfterMs : undefined;
        const policy = { firstMs: firstPauseMs, maxMs: MAX_PAUSE_MS };
        const pauseMs = chooseBackOff(policy, { failures, random: Math.random(), askedMs });
        if (failures < MAX_REFUSALS || !isRefusedAsSuch(error)) {
          await pause(pauseMs, closing);
          continue;
        }
        refusals.set(alert.code, failures);
        if (hasOthers) return false;
        await untilWoken(pauseMs);
        return false;
      }
    }
    return false;
  }

  /** Writes down what was delivered. Where that fails, it is not delivered once more, and counts against the hour. */
  function markAll(): void {
    if (unmarkedMessages.length === 0) return;
    try {
      outbox.markDelivered(name, [...unmarked]);
      unmarked.clear();
      unmarkedMessages = [];
    } catch (error) {
      log.warn({ channel: name, reason: error instanceof Error ? error.message : 'unknown' }, 'not written down');
    }
  }

  /** Lists the written alerts; one that cannot be read waits, and does not hold back an unwritten one. */
  function listWritten(): readonly WaitingAlert[] {
    try {
      return outbox.listWaiting(name).filter(({ id }) => !unmarked.has(id));
    } catch (error) {
      if (unwritten.length === 0) throw error;
      return [];
    }
  }

  /** Delivers what waits. @returns in how many milliseconds there is room for more, or undefined: when there is more */
  async function deliverWaiting(): Promise<number | undefined> {
    markAll();
    const inMemory = [...unwritten];
    const waiting = listWritten();
    const refusalsOf = (code: string) => refusals.get(code) ?? 0;
    const delivered = [...outbox.listDeliveredSince(name, now() - HOUR_MS), ...unmarkedMessages];
    const next = chooseMessage({ inMemory, waiting, delivered, refusalsOf, nowMs: now() });
    if (next === undefined || 'waitMs' in next) return next?.waitMs;
    const { message, isLast } = next;
    const hasOthers = [...inMemory, ...waiting.map(({ alert }) => alert)].some(
      ({ code }) => code !== message.alert.code && refusalsOf(code) === 0,
    );
    if (!(await deliver(message, !isLast && hasOthers))) return 0;
    if (isLast)
      unwritten.splice(
        0,
        unwritten.length,
        ...unwritten.filter((alert) => !inMemory.includes(alert) || alert.severity === 'critical'),
      );
    else if (message.ids.length === 0) unwritten.splice(unwritten.indexOf(message.alert), 1);
    markAll();
    return 0;
  }

  async function run(): Promise<void> {
    while (!closing.aborted) {
      woken = Promise.withResolvers<void>();
      isWoken = false;
      const waitMs = await deliverWaiting().catch((error: unknown) => {
        // The journal may be readable again later.
        log.error({ channel: name, reason: error instanceof Error ? error.message : 'unknown' }, 'alerts wait');
        return JOURNAL_PAUSE_MS;
      });
      // An alert raised meanwhile may have come too late for this look.
      if (waitMs === 0 || isWoken) continue;
      rest();
      if (waitMs === undefined) await woken.promise;
      else await untilWoken(waitMs);
    }
    rest();
  }

  /** Counts the alerts still to be delivered, as far as they can be read. */
  function countLeft(): number {
    try {
      return unwritten.length + outbox.listWaiting(name).filter(({ id }) => !unmarked.has(id)).length;
    } catch {
      return unwritten.length;
    }
  }

  const running = run();
  return {
    notify(alert: Alert) {
      unwritten.push(alert);
    },
    wake() {
      if (isIdle) idle = Promise.withResolvers<void>();
      isIdle = false;
      isWoken = true;
      woken.resolve();
    },
    waitIdle: async () => {
      // Who has just raised something wakes the lane in a microtask.
      await Promise.resolve();
      while (!closing.aborted && countLeft() > 0) {
        const before = countLeft();
        await idle.promise;
        if (countLeft() === before) return;
      }
    },
    ended: running,
  };
}

/**
 * Creates the outbox: an alert is written down when it is raised, in the commit that is under way if there is one, and delivered to each
 * channel at least once, however long the channel is away and however often the program is started anew.
 *
 * @see docs/payments.md, "Alerts, and what to do"
 */
export function createOutbox(options: OutboxOptions): Alerter {
  const { outbox, log, redact } = options;
  const closing = new AbortController();
  const lanes = options.channels.map((channel) => createLane(channel, options, closing.signal));
  const note = (alert: Alert) =>
    log.warn({ alert: alert.code, severity: alert.severity, text: redact(alert.text) }, redact(alert.subject));
  const wakeAll = () => lanes.forEach((lane) => void lane.wake());
  return {
    raise(alert) {
      outbox.add(alert);
      note(alert);
      // The commit may still be under way.
      queueMicrotask(wakeAll);
    },
    notify(alert) {
      note(alert);
      for (const lane of lanes) lane.notify(alert);
      wakeAll();
    },
    async drain(timeoutMs) {
      const timer = new AbortController();
      await Promise.race([Promise.all(lanes.map((lane) => lane.waitIdle())), pause(timeoutMs, timer.signal)]);
      timer.abort();
    },
    close() {
      closing.abort();
      for (const channel of options.channels) channel.close();
    },
  };
}
