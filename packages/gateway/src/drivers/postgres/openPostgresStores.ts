import { createAdminStore, createRelayerStore, type SqlContext } from '../sql/adminStore.ts';
import { createRetention, type RetentionOptions } from '../sql/createRetention.ts';
import type { SqlStores } from '../sql/sqlStores.ts';
import { relayerOfRow, type TableNames } from '../sql/tables.ts';
import { createWebhookStore } from '../sql/webhookStore.ts';
import { type DatabaseOptions, openPostgres, translate } from './connect.ts';
import { createChanges } from './createChanges.ts';
import { createGroupedRead } from './createGroupedRead.ts';
import { createWriter } from './createWriter.ts';
import { migratePostgres } from './migrate.ts';
import { createRateLimitStore } from './rateLimitStore.ts';
import { TEXT_FORM } from './records.ts';
import { createRequestStore } from './requestStore.ts';
import { schemasOf, tablesOf } from './schema.ts';

export interface PostgresStores extends SqlStores {
  /** Removes all that is old by now. @throws DependencyUnavailableError */
  sweep(): Promise<void>;
}

export interface PostgresOptions extends DatabaseOptions, RetentionOptions {
  /** Names of the stores. */
  readonly tables: TableNames;
}

/**
 * Opens the store in PostgreSQL, which several gateways of several machines may share, and makes its tables.
 *
 * @throws NewerSchemaError, and the driver's own errors if the database does not answer
 */
export async function openPostgresStores(options: PostgresOptions): Promise<PostgresStores> {
  const tables = tablesOf(options.tables);
  const database = openPostgres(options);
  const client = await database.connect();
  try {
    await migratePostgres(client, schemasOf(options.tables));
  } finally {
    await client.end();
  }
  const { read, connect } = database;
  const writer = createWriter({ connect, tables, now: options.now });
  const changes = createChanges({ connect, read, tables, process: writer.process });
  writer.onCommitted(changes.committed);
  const context = { read, writer, changes, tables };
  const shared: SqlContext = {
    ...{ tables, form: TEXT_FORM, write: writer.write },
    read: (sql, ...values) => read(translate(sql), values),
  };
  const retention = createRetention({ expire: (step) => writer.write('expireStep', step) }, options);
  const rateLimits = createRateLimitStore(context);
  // Each call of a relayer asks who it is.
  const findRelayer = createGroupedRead(async (keys) => {
    const rows = await read(`SELECT * FROM ${tables.relayers} WHERE key = ANY($1)`, [keys]);
    return new Map(rows.map((row) => [String(row.key), relayerOfRow(row, TEXT_FORM)]));
  });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await retention.close();
    await rateLimits.flush().catch(() => undefined);
    await writer.close();
    await changes.close();
    await database.close();
  }

  return {
    requests: createRequestStore(context),
    changes,
    relayers: { ...createRelayerStore(shared), find: (address) => findRelayer(address.toLowerCase()) },
    admin: createAdminStore(shared),
    rateLimits,
    ...createWebhookStore(shared, (listener) => writer.onCommitted(({ moves }) => listener(moves.count))),
    async checkReady() {
      await read(`SELECT 1 FROM ${tables.requests} LIMIT 1`);
      await writer.write('probe', null);
    },
    sweep: retention.sweep,
    close() {
      closing ??= close();
      return closing;
    },
  };
}
