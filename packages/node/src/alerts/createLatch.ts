import type { Alerter } from './alert.ts';
import type { OutboxTable } from './createOutboxTable.ts';

/** A condition that people are alerted to. */
export interface AlertLatch {
  /** It is so: alerts once, and again each day that it stays so. */
  raise(text: string): void;
  /** It is so no longer; alerts people if they were alerted that it was so. */
  clear(): void;
  isRaised(): boolean;
}

/** Between two reminders, in milliseconds. */
const REMINDER_MS = 86_400_000;

/**
 * Alerts when a condition begins, once a day while it lasts, and when it has ended; a restart forgets none of that.
 *
 * @param context - alerts, where what was sent is kept, and the clock in milliseconds since the epoch
 * @param name - the alert's code, what it says of the beginning and of the end, and what is well again then
 */
export function createLatch(
  context: {
    readonly alerter: Alerter;
    readonly journal: { readonly outbox: OutboxTable; commit<Result>(write: () => Result): Result };
    readonly now: () => number;
  },
  name: { readonly code: string; readonly subject: string; readonly over: string; readonly relief: string },
): AlertLatch {
  const { alerter, journal, now } = context;
  const { code, subject, over, relief } = name;
  const { outbox } = journal;
  return {
    isRaised: () => outbox.condition(code) !== undefined,
    raise(text) {
      const raised = outbox.condition(code);
      // A clock that was set back by more does not silence it.
      if (raised !== undefined && Math.abs(now() - raised.alertedAtMs) < REMINDER_MS) return;
      journal.commit(() => {
        outbox.setCondition(code, { sinceMs: raised?.sinceMs ?? now(), alertedAtMs: now() });
        const since = raised === undefined ? '' : ` It has been so since ${new Date(raised.sinceMs).toISOString()}.`;
        alerter.raise({
          code,
          severity: 'warning',
          subject: raised === undefined ? subject : `Still: ${subject}`,
          text: `${text}${since}`,
        });
      });
    },
    clear() {
      if (outbox.condition(code) === undefined) return;
      journal.commit(() => {
        outbox.clearCondition(code);
        alerter.raise({ code: `${code}_OVER`, severity: 'info', subject: over, text: relief });
      });
    },
  };
}
