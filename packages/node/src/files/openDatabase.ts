import { type BigIntStats, statSync } from 'node:fs';
import { DatabaseSync, type DatabaseSyncOptions, type StatementSync } from 'node:sqlite';

/** A database was moved, removed or replaced while it was open: what is written into it now, nobody would find. */
export class FileGoneError extends Error {
  override readonly name = 'FileGoneError';
  readonly code = 'FILE_GONE';

  /** @param file - its path */
  constructor(file: string) {
    super(`${file} is not the file that this process has opened: put it back, or stop this process and start it again`);
  }
}

function readIdentity(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

/** @returns a check, of some microseconds, that a name still leads to the file that it led to when the check was made */
function createCheck(file: string): () => void {
  const opened = readIdentity(file);
  // One in memory has no file.
  if (opened === undefined) return () => undefined;
  return () => {
    const found = readIdentity(file);
    if (found?.dev !== opened.dev || found.ino !== opened.ino) throw new FileGoneError(file);
  };
}

/**
 * Opens a database that writes only into the file of its name. SQLite stays with the file that it opened, under whatever name or none:
 * after a folder was moved away, a program would go on to write where no restart and no backup finds it.
 *
 * @param file - its path; made if it is missing
 * @returns the database; each transaction, and each write outside of one, throws FileGoneError `FILE_GONE` once the file is another
 * @see https://sqlite.org/howtocorrupt.html#unlink
 */
export function openDatabase(file: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  const database = new DatabaseSync(file, options);
  const check = createCheck(file);
  const checkBegin = () => {
    if (!database.isTransaction) check();
  };
  const [exec, prepare] = [database.exec.bind(database), database.prepare.bind(database)];
  database.exec = (sql) => {
    checkBegin();
    exec(sql);
  };
  database.prepare = (...query) => {
    const statement = prepare(...query);
    const run = statement.run.bind(statement);
    statement.run = ((...values: Parameters<StatementSync['run']>) => {
      checkBegin();
      return run(...values);
    }) as StatementSync['run'];
    return statement;
  };
  return database;
}
