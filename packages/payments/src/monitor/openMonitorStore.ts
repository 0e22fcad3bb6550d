import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory, migrateDatabase, openDatabase } from '@prism-gateway/node';
import { commitTogether, createOutboxTable, OUTBOX_SCHEMA, type OutboxTable } from '@prism-gateway/node/alerts';
import * as z from 'zod/mini';
import type { Sample } from './estimateReach.ts';

/** The monitor's memory across restarts: alerts on their way, messages sent, and recent balances. */
export interface MonitorStore {
  readonly outbox: OutboxTable;
  /** Runs some writes as one commit. */
  commit<Result>(write: () => Result): Result;
  /** Of an account, oldest first. */
  samplesOf(where: string): readonly Sample[];
  setSamples(where: string, samples: readonly Sample[]): void;
  /** Whether an account was ever seen to have approved the Exchange. */
  wasApproved(where: string): boolean;
  setApproved(where: string): void;
  close(): void;
}

const samplesSchema = z.array(
  z.object({ atMs: z.number(), balanceWei: z.string().check(z.regex(/^\d+$/)), nonce: z.number() }),
);

function readSamples(text: unknown): readonly Sample[] {
  if (typeof text !== 'string') return [];
  // Only this store's own writes are read.
  return samplesSchema.parse(JSON.parse(text)).map((sample) => ({ ...sample, balanceWei: BigInt(sample.balanceWei) }));
}

/**
 * Opens the monitor's memory: SQLite, each commit synced to the disk.
 *
 * @param options - the file, made if it is missing, and the clock in milliseconds since the epoch
 */
export function openMonitorStore(options: { readonly file: string; readonly now: () => number }): MonitorStore {
  const { file, now } = options;
  makeDirectory(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const database = openDatabase(file, { timeout: 5000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrateDatabase(database, [OUTBOX_SCHEMA]);
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  const fact = database.prepare('SELECT value FROM facts WHERE name = ?');
  const setFact = database.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    outbox: createOutboxTable(database, { now, commit }),
    commit,
    samplesOf: (where) => readSamples(fact.get(`samples: ${where}`)?.value),
    setSamples(where, samples) {
      const text = JSON.stringify(samples.map((sample) => ({ ...sample, balanceWei: `${sample.balanceWei}` })));
      setFact.run(`samples: ${where}`, text);
    },
    wasApproved: (where) => fact.get(`approved: ${where}`) !== undefined,
    setApproved: (where) => void setFact.run(`approved: ${where}`, 'seen'),
    close: () => database.close(),
  };
}
