import { FileGoneError } from '../files/openDatabase.ts';
import type { Logger } from '../logs/index.ts';
import type { Alerter } from './alert.ts';

/** Alerts people that the journal cannot be written, which cannot be written down. */
interface JournalFault {
  /** Alerts once, and again each day that it stays so. */
  raise(error: unknown): void;
  /** A round has gone well; alerts people if they were alerted that the journal could not be written. */
  clear(): void;
  isRaised(): boolean;
}

/** The code of the end, which asks for nothing. */
const OVER = 'JOURNAL_FAILED_OVER';
const REMINDER_MS = 86_400_000;

/**
 * Distinguishes a journal that fails from a node that does.
 *
 * @returns whether SQLite has thrown it
 */
export function isJournalFault(error: unknown): error is Error {
  if (error instanceof FileGoneError) return true;
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/**
 * Creates what alerts people to a journal that fails; a restart forgets that they were alerted.
 *
 * @param context - alerts, log, and a clock that is never set, in milliseconds
 * @returns the condition, which does not hold
 */
export function createJournalFault(
  context: {
    readonly alerter: Pick<Alerter, 'raise' | 'notify'>;
    readonly log: Logger;
    readonly monotonicNow: () => number;
  },
  words: { readonly subject: string; readonly text: string; readonly relief: string },
): JournalFault {
  const { alerter, log, monotonicNow } = context;
  let alertedAtMs: number | undefined;
  return {
    isRaised: () => alertedAtMs !== undefined,
    raise(error) {
      // Nodes and URLs have no part in it.
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
      log.error({ reason }, 'the journal fails');
      if (alertedAtMs !== undefined && monotonicNow() - alertedAtMs < REMINDER_MS) return;
      alertedAtMs = monotonicNow();
      alerter.notify({
        code: 'JOURNAL_FAILED',
        severity: 'critical',
        subject: words.subject,
        text: `${reason}. ${words.text}`,
      });
    },
    clear() {
      if (alertedAtMs === undefined) return;
      // It is over once this can be written down.
      alerter.raise({
        code: OVER,
        severity: 'info',
        subject: 'The journal can be written again',
        text: words.relief,
      });
      alertedAtMs = undefined;
    },
  };
}
