import { EventEmitter } from 'node:events';
import fs, { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { assertAlive, currentProcess, ProcessDiedError, type SimProcess } from './processes.ts';

/** The faults of a machine's disk. */
export interface DiskFaults {
  /** Nothing can be written. */
  isFull: boolean;
  /** When its files were lost, or put back to older ones; virtual Unix milliseconds. */
  lostMs?: number;
}

/** The path of a database that has no file. */
const MEMORY = ':memory:';
const WRITES = /^\s*(insert|update|delete|replace|commit|create|alter)/i;
const COMMITS = /^\s*commit/i;

/** SQLite's own error for a disk without room. */
const fullError = () =>
  Object.assign(new Error('database or disk is full'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 13,
    errstr: 'database or disk is full',
  });

/** Faults by machine. */
export type Disks = Map<string, DiskFaults>;

/**
 * Puts the world between processes and their databases: a process's death leaves them as a power cut would, and disks can be full.
 *
 * @param die - has a process die now
 */
export function installDisks(disks: Disks, die: (process: SimProcess) => void): () => void {
  const { exec, prepare, close } = DatabaseSync.prototype;
  const { run } = StatementSync.prototype;
  /** A database is its process's from its first statement on. */
  function adopt(database: DatabaseSync): void {
    assertAlive();
    const process = currentProcess();
    if (process?.databases.has(database) === false) process.databases.set(database, database.location() ?? MEMORY);
  }
  // Their classes are changed, and not replaced: modules keep the classes of `node:sqlite` that they have imported.
  DatabaseSync.prototype.exec = function watchedExec(this: DatabaseSync, sql: string) {
    adopt(this);
    meet(sql);
    exec.call(this, sql);
    afterCommit(sql);
  };
  DatabaseSync.prototype.prepare = function watchedPrepare(this: DatabaseSync, ...args: Parameters<typeof prepare>) {
    adopt(this);
    return prepare.apply(this, args);
  };
  DatabaseSync.prototype.close = function watchedClose(this: DatabaseSync) {
    currentProcess()?.databases.delete(this);
    close.call(this);
  };
  function meet(sql: string): void {
    const process = currentProcess();
    if (process === undefined) return;
    if (!process.isAlive) throw new ProcessDiedError();
    if (disks.get(process.host)?.isFull === true && WRITES.test(sql)) throw fullError();
  }
  function afterCommit(sql: string): void {
    const process = currentProcess();
    if (process === undefined || process.diesAfterCommits === 0 || !COMMITS.test(sql)) return;
    process.diesAfterCommits--;
    if (process.diesAfterCommits === 0) {
      die(process);
      throw new ProcessDiedError();
    }
  }
  StatementSync.prototype.run = function watchedRun(this: StatementSync, ...args: Parameters<typeof run>) {
    const process = currentProcess();
    // Nearly always there is nothing to look at, and a text to make would cost more than the statement.
    if (
      process !== undefined &&
      (!process.isAlive || process.diesAfterCommits > 0 || disks.get(process.host)?.isFull)
    ) {
      const sql = this.sourceSQL;
      meet(sql);
      const result = run.apply(this, args);
      afterCommit(sql);
      return result;
    }
    return run.apply(this, args);
  } as typeof run;
  return () => {
    Object.assign(DatabaseSync.prototype, { exec, prepare, close });
    Object.assign(StatementSync.prototype, { run });
  };
}

/** Files are read and written at once, so that the machine's disk decides no order. @returns puts the real ones back */
export function installFiles(track: <T>(work: Promise<T>) => Promise<T>): () => void {
  const kept = { ...fsPromises };
  for (const name of [
    'readFile',
    'writeFile',
    'stat',
    'statfs',
    'mkdir',
    'access',
    'rename',
    'unlink',
    'rm',
    'readdir',
    'link',
    'mkdtemp',
    'utimes',
    'copyFile',
  ] as const) {
    const sync = fs[`${name}Sync`] as (...args: unknown[]) => unknown;
    Object.assign(fsPromises, {
      [name]: async (...args: unknown[]) => {
        assertAlive();
        return sync(...args);
      },
    });
  }
  const { open } = kept;
  Object.assign(fsPromises, { open: (...args: Parameters<typeof open>) => track(open(...args)) });
  const { watch } = fs;
  // The machine reports changes when it likes; nobody else writes the files of a simulated program.
  Object.assign(fs, { watch: () => Object.assign(new EventEmitter(), { close: () => undefined }) });
  return () => {
    Object.assign(fsPromises, kept);
    Object.assign(fs, { watch });
  };
}

/** Closes a dead process's databases and leaves their files as they were at its death: what was committed, and half a write. */
export function cutPower(process: SimProcess): void {
  const paths = [...new Set(process.databases.values())].filter((path) => path !== MEMORY);
  const files = paths.flatMap((path) => [path, `${path}-wal`]).filter((file) => existsSync(file));
  const kept = files.map((file) => [file, readFileSync(file)] as const);
  for (const database of process.databases.keys()) if (database.isOpen) database.close();
  process.databases.clear();
  for (const [file, bytes] of kept) {
    // A write that was under way: a part of a frame, which no commit follows.
    const isTorn = file.endsWith('-wal') && bytes.length > 0;
    const torn = isTorn ? process.random.bytes(process.random.between(0, 2000)) : [];
    writeFileSync(file, bytes);
    appendFileSync(file, Uint8Array.from(torn));
  }
}

/** Copies a machine's files at one instant, as a snapshot of its disk. */
export function saveDisk(directory: string): ReadonlyMap<string, Buffer> {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name))]),
  );
}

/** Brings a machine's files back as `saveDisk` has them: what came since is gone, logs of databases too. */
export function restoreDisk(directory: string, saved: ReadonlyMap<string, Buffer>): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [path, bytes] of saved) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}
