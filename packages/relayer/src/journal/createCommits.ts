import type { DatabaseSync } from 'node:sqlite';
import { isJournalFault } from '@prism-gateway/node/alerts';

/** How long writes that need not be on the disk at once are gathered, in milliseconds. */
const COMMIT_AFTER_MS = 20;
/** Pause before a commit is tried again that failed, in milliseconds. */
const RETRY_AFTER_MS = 1000;

/** Writes of a database, gathered into commits. */
export interface Commits {
  /** Does some work whole or not at all; it is seen at once, and on the disk a moment later, or as soon as the disk takes it. */
  write(work: () => void): void;
  /** Does some work, and returns once it is on the disk. @throws Error of SQLite: then nothing of it is done */
  writeNow(work: () => void): void;
  /** Puts on the disk what was written since the last time. @throws Error of SQLite: it is kept, and tried again */
  commit(): void;
  /** Whether the disk refused what was written last. */
  isFailing(): boolean;
}

/**
 * Makes the commits of a database. A disk that is full takes nothing away from what was written: it stays in an open transaction, or, if
 * SQLite has rolled that back, is done again in a new one, in its order; so it is seen all the time.
 *
 * @param database - written by nobody else; what is done must come to the same if it is done again
 * @see https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
 */
export function createCommits(database: DatabaseSync): Commits {
  /** Done, and not on the disk yet. */
  let pending: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  /** Begins a transaction in which all is done that is not on the disk yet. */
  function begin(): void {
    if (database.isTransaction) return;
    database.exec('BEGIN IMMEDIATE');
    for (const work of pending) work();
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        commit();
      } catch {
        // Kept, and tried again; whoever looks at the journal's health reports it.
      }
    }, afterMs);
  }

  function commit(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    try {
      begin();
      database.exec('COMMIT');
      pending = [];
      isFailing = false;
    } catch (error) {
      isFailing = true;
      schedule(RETRY_AFTER_MS);
      begin();
      throw error;
    }
  }

  /** Undoes what has failed, and nothing else. */
  function undo(): void {
    if (database.isTransaction) database.exec('ROLLBACK');
    if (pending.length > 0) begin();
  }

  function write(work: () => void): void {
    begin();
    database.exec('SAVEPOINT work');
    try {
      work();
      database.exec('RELEASE work');
    } catch (error) {
      // A disk without room refuses statements, too, and may take the commit of nothing.
      if (isJournalFault(error)) isFailing = true;
      undo();
      throw error;
    }
    pending.push(work);
    schedule(COMMIT_AFTER_MS);
  }

  return {
    write,
    writeNow(work) {
      write(work);
      try {
        commit();
      } catch (error) {
        pending = pending.filter((other) => other !== work);
        undo();
        throw error;
      }
    },
    commit,
    isFailing: () => isFailing,
  };
}
