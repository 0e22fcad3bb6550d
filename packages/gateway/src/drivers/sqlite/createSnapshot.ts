import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DependencyUnavailableError } from '../../ports/errors.ts';

export interface Snapshot {
  /** Runs a read in the transaction of this turn of the event loop, which the turn's first read begins. */
  read<T>(query: () => T): T;
  /** Ends the transaction, if one is open: the next read sees what has been committed since. */
  end(): void;
}

/**
 * Distinguishes turns of the event loop: a turn is what one look for new input has brought, and what follows from it. The loop looks
 * once an iteration, and again in the same one if more than a thousand connections had something to say.
 */
function currentTurn(): number {
  const { loopCount, events } = performance.nodeTiming.uvMetricsInfo;
  // Neither ever falls, so that the sum stays only if both do.
  return loopCount + events;
}

/**
 * Lets the reads of one turn of the event loop share a transaction: to take and give back the file's read lock costs as much as
 * looking a record up.
 *
 * This process's own commits are seen at once, for a commit ends the snapshot before its answer goes out. What another
 * process acknowledges is seen by every call that begins to arrive afterwards: the turn in which it arrives begins later, and no
 * transaction is read from in a later turn than its own.
 *
 * @param database - a connection for reading; all reads of it go through the snapshot
 */
export function createSnapshot(database: DatabaseSync): Snapshot {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  /** The turn whose transaction is open. */
  let openTurn: number | undefined;
  function end(): void {
    if (openTurn === undefined) return;
    openTurn = undefined;
    try {
      commit.run();
    } catch {
      // Nothing was written; what is wrong with the file, the next read says to its caller.
    }
  }
  return {
    read(query) {
      const turn = currentTurn();
      if (turn !== openTurn) {
        end();
        begin.run();
        openTurn = turn;
        // If this is itself an immediate, the end comes only after the next turn's input: hence the comparison above.
        setImmediate(end);
      }
      return query();
    },
    end,
  };
}

/** Runs a read; a database that fails is a dependency that does not answer. */
export function readStore<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new DependencyUnavailableError('store', { cause });
  }
}

/** Prepares each statement once, when it is first asked for. */
export function createStatements(database: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return function statement(sql) {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const fresh = database.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };
}
