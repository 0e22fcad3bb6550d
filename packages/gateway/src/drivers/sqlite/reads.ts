import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DependencyUnavailableError } from '../../ports/errors.ts';

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
