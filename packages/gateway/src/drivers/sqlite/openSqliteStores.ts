import { migrateDatabase } from '@prism-gateway/runtime';
import type { AdminStore } from '../../ports/adminStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import type { DeliveryQueue, WebhookStore } from '../../ports/webhookStore.ts';
import type { WorkerThread } from '../../ports/workerThread.ts';
import { createAdminStore } from './adminStore.ts';
import { createFileCheck } from './checkFile.ts';
import { createRequestChanges } from './createRequestChanges.ts';
import { createRetention, type RetentionOptions } from './createRetention.ts';
import { createSnapshot, createStatements, readStore } from './createSnapshot.ts';
import { createWriter } from './createWriter.ts';
import { openDatabase } from './openDatabase.ts';
import { createRateLimitStore, type SqliteRateLimitStore } from './rateLimitStore.ts';
import { createRelayerStore } from './relayerStore.ts';
import { createRequestStore } from './requestStore.ts';
import { schemasOf } from './schema.ts';
import { quoteTables, type TableNames } from './tables.ts';
import { createWebhookStore } from './webhookStore.ts';

export interface SqliteStores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: SqliteRateLimitStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
  /** @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Finishes every write under way and closes the file. */
  close(): Promise<void>;
}

export interface SqliteOptions extends RetentionOptions {
  /** Path of the database; made where there is none. */
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
  const outbox = createWebhookStore(context);
  const probe = database.prepare(`SELECT 1 FROM ${quoted.requests} LIMIT 1`);
  return {
    requests: createRequestStore(context),
    changes,
    relayers: createRelayerStore(context),
    admin: createAdminStore(context),
    rateLimits,
    webhooks: outbox.webhooks,
    deliveries: outbox.deliveries,
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
