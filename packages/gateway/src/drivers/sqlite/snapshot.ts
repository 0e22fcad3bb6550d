import type { DatabaseSync } from 'node:sqlite';

export interface Snapshot {
  /** Runs a read in the transaction of this turn of the event loop, which the turn's first read begins. */
  read<T>(query: () => T): T;
  /** Ends the transaction, if one is open: the next read sees what has been committed since. */
  end(): void;
}

/**
 * Lets the reads of one turn of the event loop share a transaction: to take and give back the file's read lock costs as much as
 * looking a record up.
 *
 * What this process has acknowledged is seen at once, for a commit ends the snapshot before its answer goes out. What another
 * process acknowledges is seen by every call that begins to arrive afterwards: the turn in which it arrives begins later.
 *
 * @param database - a connection for reading
 */
export function createSnapshot(database: DatabaseSync): Snapshot {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  let open = false;
  function end(): void {
    if (!open) return;
    open = false;
    try {
      commit.run();
    } catch {
      // Nothing was written; what is wrong with the file, the next read says to its caller.
    }
  }
  return {
    read(query) {
      if (!open) {
        begin.run();
        open = true;
        setImmediate(end);
      }
      return query();
    },
    end,
  };
}
