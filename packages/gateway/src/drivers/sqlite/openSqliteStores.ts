import type { AdminStore } from '../../ports/adminStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import type { WorkerThread } from '../../ports/workerThread.ts';
import { createAdminStore } from './adminStore.ts';
import { createFileCheck } from './checkFile.ts';
import { createSnapshot, readStore } from './createSnapshot.ts';
import { createWriter } from './createWriter.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrations.ts';
import { createRateLimitStore, type SqliteRateLimitStore } from './rateLimitStore.ts';
import { createRelayerStore } from './relayerStore.ts';
import { createRequestStore } from './requestStore.ts';
import { quoteTables, type TableNames } from './tables.ts';

export interface SqliteStores {
  readonly requests: RequestStore;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: SqliteRateLimitStore;
  /** @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Finishes every write under way and closes the file. */
  close(): Promise<void>;
}

/**
 * Opens the embedded store: one file, which several processes of one machine may share.
 *
 * @param file - path of the database; made where there is none
 * @param tables - names of the stores
 * @param thread - the thread that writes
 * @throws NewerSchemaError, and SQLite's own errors for a file that cannot be opened
 */
export function openSqliteStores(file: string, tables: TableNames, thread: WorkerThread): SqliteStores {
  const database = openDatabase(file);
  const checkFile = createFileCheck(file);
  migrate(database, tables);
  const quoted = quoteTables(tables);
  const snapshot = createSnapshot(database);
  const writer = createWriter({ file, tables }, thread, snapshot.end);
  const context = { database, snapshot, writer, tables: quoted };
  const rateLimits = createRateLimitStore(context);
  const probe = database.prepare(`SELECT 1 FROM ${quoted.requests} LIMIT 1`);
  return {
    requests: createRequestStore(context),
    relayers: createRelayerStore(context),
    admin: createAdminStore(context),
    rateLimits,
    async checkReady() {
      readStore(() => snapshot.read(() => probe.get()));
      await checkFile();
      await writer.write('countHits', []);
    },
    async close() {
      await rateLimits.flush().catch(() => undefined);
      await writer.close();
      snapshot.end();
      database.close();
    },
  };
}
