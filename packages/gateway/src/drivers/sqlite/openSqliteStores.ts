import { migrateDatabase } from '@prism-gateway/node';
import type { WorkerThread } from '../../ports/workerThread.ts';
import { createAdminStore, createRelayerStore, type SqlContext } from '../sql/adminStore.ts';
import type { SqlStores } from '../sql/sqlStores.ts';
import type { TableNames } from '../sql/tables.ts';
import { createWebhookStore } from '../sql/webhookStore.ts';
import { createFileCheck } from './checkFile.ts';
import { createRequestChanges } from './createRequestChanges.ts';
import { createRetention, type RetentionOptions } from './createRetention.ts';
import { createSnapshot, createStatements, readStore } from './createSnapshot.ts';
import { createWriter } from './createWriter.ts';
import { openDatabase } from './openDatabase.ts';
import { createRateLimitStore } from './rateLimitStore.ts';
import { createRequestStore } from './requestStore.ts';
import { schemasOf } from './schema.ts';
import { TEXT_FORM } from './sharedWrites.ts';
import { quoteTables } from './tables.ts';

export type SqliteStores = SqlStores;

export interface SqliteOptions extends RetentionOptions {
  /** Path of the database; made if there is none. */
  readonly file: string;
  /** Names of the stores. */
  readonly tables: TableNames;
  /** The thread that writes. */
  readonly thread: WorkerThread;
}

/**
 * Opens the embedded store: one file, which several processes of one machine may share.
 *
 * @throws NewerSchemaError, and SQLite's own errors for a file that cannot be opened
 */
export function openSqliteStores(options: SqliteOptions): SqliteStores {
  const { file, tables, thread } = options;
  const database = openDatabase(file);
  const checkFile = createFileCheck(file);
  migrateDatabase(database, schemasOf(tables));
  const quoted = quoteTables(tables);
  const snapshot = createSnapshot(database);
  const changes = createRequestChanges({ file, snapshot, statement: createStatements(database), tables: quoted });
  const writer = createWriter({ file, tables }, thread);
  writer.onCommitted(snapshot.end);
  writer.onCommitted(changes.committed);
  const retention = createRetention(writer, options);
  const context = { database, snapshot, writer, changes, tables: quoted };
  const rateLimits = createRateLimitStore(context);
  const statement = createStatements(database);
  const shared: SqlContext = {
    ...{ tables: quoted, form: TEXT_FORM },
    read: (sql, ...values) => readStore(() => snapshot.read(() => statement(sql).all(...values))),
    async write(kind, input) {
      const result = await writer.write(kind, input);
      // Who waits for a request looks again, and finds it gone.
      if (kind === 'removeRequest' && result === 'removed') changes.moved(String(input));
      return result;
    },
  };
  const probe = database.prepare(`SELECT 1 FROM ${quoted.requests} LIMIT 1`);
  return {
    requests: createRequestStore(context),
    changes,
    relayers: createRelayerStore(shared),
    admin: createAdminStore(shared),
    rateLimits,
    ...createWebhookStore(shared, (listener) => writer.onCommitted((moves) => moves && listener(moves.count))),
    async checkReady() {
      readStore(() => snapshot.read(() => probe.get()));
      await checkFile();
      await writer.write('countHits', []);
    },
    async close() {
      changes.close();
      await retention.close();
      await rateLimits.flush().catch(() => undefined);
      await writer.close();
      snapshot.end();
      database.close();
    },
  };
}
