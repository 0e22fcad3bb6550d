import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { join } from 'node:path';
import sqlite, { DatabaseSync, StatementSync } from 'node:sqlite';
import { assertAlive, currentProcess, ProcessDiedError, type SimProcess } from './processes.ts';

/** What is wrong with a machine's disk. */
export interface DiskFaults {
  /** Nothing can be written. */
  isFull: boolean;
}

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
  const Real = sqlite.DatabaseSync;
  class SimDatabase extends DatabaseSync {
    constructor(path: string, options: object = {}) {
      assertAlive();
      super(path, options);
      currentProcess()?.databases.set(this, path);
    }
    override close(): void {
      currentProcess()?.databases.delete(this);
      super.close();
    }
    override exec(sql: string): void {
      meet(sql);
      super.exec(sql);
      afterCommit(sql);
    }
  }
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
  const run = StatementSync.prototype.run;
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
  Object.assign(sqlite, { DatabaseSync: SimDatabase });
  return () => {
    StatementSync.prototype.run = run;
    Object.assign(sqlite, { DatabaseSync: Real });
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
  return () => void Object.assign(fsPromises, kept);
}

/** Closes a dead process's databases and leaves their files as they were at its death: what was committed, and half a write. */
export function cutPower(process: SimProcess): void {
  const paths = [...new Set(process.databases.values())].filter((path) => path !== ':memory:');
  const files = paths.flatMap((path) => [path, `${path}-wal`]).filter((file) => existsSync(file));
  const kept = files.map((file) => [file, readFileSync(file)] as const);
  for (const database of process.databases.keys()) if (database.isOpen) DatabaseSync.prototype.close.call(database);
  process.databases.clear();
  for (const [file, bytes] of kept) {
    // A write that was under way: a part of a frame, which no commit follows.
    const isTorn = file.endsWith('-wal') && bytes.length > 0;
    const torn = isTorn ? process.random.bytes(process.random.between(0, 2000)) : [];
    writeFileSync(file, Buffer.concat([bytes, Uint8Array.from(torn)]));
  }
}

/** Copies a machine's files, to be brought back later as from a backup. */
export function saveDisk(directory: string): ReadonlyMap<string, Buffer> {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    names.map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name))]),
  );
}
