import type { DatabaseSync } from 'node:sqlite';

/**
 * Runs some writes as one commit; within another one, as a part of it.
 *
 * @param database - the file
 * @param write - does the writes
 * @returns what `write` returns
 */
export function commitTogether<Result>(database: DatabaseSync, write: () => Result): Result {
  if (database.isTransaction) return write();
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
