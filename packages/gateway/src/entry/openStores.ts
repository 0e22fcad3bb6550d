import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { NewerSchemaError } from '@prism-gateway/node';
import type { Environment } from '@prism-gateway/node/settings';
import type { AdminStore } from '../ports/adminStore.ts';
import type { RateLimitStore } from '../ports/rateLimitStore.ts';
import type { RelayerStore } from '../ports/relayerStore.ts';
import type { RequestChanges } from '../ports/requestChanges.ts';
import type { RequestStore } from '../ports/requestStore.ts';
import type { DeliveryQueue, WebhookStore } from '../ports/webhookStore.ts';
import type { WorkerThread } from '../ports/workerThread.ts';
import { dynamoAccess, localEndpoint } from './dynamoAccess.ts';
import type { Settings, Store } from './settings.ts';

export interface Stores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  readonly webhooks: WebhookStore;
  /** Whether it fills the disk of `DATA_DIR`. */
  readonly needsDisk: boolean;
  /** The deliveries of this process; absent: others deliver. */
  readonly deliveries?: DeliveryQueue;
  /** Whether anybody does. @throws DependencyUnavailableError */
  canDeliver(): Promise<boolean>;
  /** @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Finishes what is under way. */
  close(): Promise<void>;
}

interface StoresContext {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly now: () => number;
  /** Where an embedded store writes. */
  readonly thread: WorkerThread;
}

/** Without a region every call would fail, and only then. */
export async function requireRegion(client: DynamoDBClient): Promise<void> {
  try {
    await client.config.region();
  } catch (cause) {
    throw new Error('No AWS region is known; set AWS_REGION, for example to us-east-1.', { cause });
  }
}

/** How long requests are kept, as stores take it. */
const retentionOf = (settings: Settings) => ({
  requestRetentionDays: settings.REQUEST_RETENTION_DAYS,
  pendingRetentionDays: settings.PENDING_RETENTION_DAYS,
});

async function openDynamoDb(context: StoresContext): Promise<Stores> {
  const { settings, environment, now } = context;
  const access = { stage: settings.STAGE, environment };
  const { createDynamoClient } = await import('../drivers/dynamodb/createDynamoClient.ts');
  const { createDynamoStores } = await import('../drivers/dynamodb/createDynamoStores.ts');
  const client = createDynamoClient(dynamoAccess(access));
  const endpoint = localEndpoint(access);
  await requireRegion(client);
  if (endpoint !== undefined) {
    const { createTables } = await import('../drivers/dynamodb/createTables.ts');
    const names = { ...settings.tables, deliveries: settings.deliveriesTable };
    await createTables(client, names).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`DynamoDB at ${endpoint} cannot be used: start it, or set STORE=sqlite. (${why})`, { cause });
    });
  }
  const { INDEX_SHARDS: indexShards, tables } = settings;
  const { deliveriesTable, chains } = settings;
  const options = { client, tables, deliveriesTable, chains, indexShards, ...retentionOf(settings), now };
  const stores = createDynamoStores(options);
  await stores.prepare();
  const { createWebhookStore } = await import('../drivers/dynamodb/webhookStore.ts');
  // Functions deliver, and count for the stats: a server does not read the table's stream.
  const deliveries = { client, name: settings.deliveriesTable };
  const webhooks = createWebhookStore({ requests: { client, name: tables.requests }, deliveries });
  return { ...stores, needsDisk: false, webhooks, canDeliver: async () => false };
}

async function openSqlite({ settings, thread, now }: StoresContext): Promise<Stores> {
  const { openSqliteStores } = await import('../drivers/sqlite/openSqliteStores.ts');
  const { databaseFile: file, tables } = settings;
  const stores = openSqliteStores({ file, tables, thread, ...retentionOf(settings), now });
  return { ...stores, needsDisk: true, canDeliver: async () => true };
}

/** In `dev`, without a `DATABASE_URL`, on a server of its own below `DATA_DIR`. */
async function openPostgres({ settings, now }: StoresContext): Promise<Stores> {
  const { openPostgresStores } = await import('../drivers/postgres/openPostgresStores.ts');
  const { DATABASE_URL, DATA_DIR, DATABASE_POOL_SIZE: poolSize, tables } = settings;
  const { startEmbedded } = await import('../drivers/postgres/startEmbedded.ts');
  const server = DATABASE_URL === undefined ? await startEmbedded({ folder: join(DATA_DIR, 'postgres') }) : undefined;
  const url = DATABASE_URL ?? server?.url ?? '';
  try {
    const stores = await openPostgresStores({ url, poolSize, tables, ...retentionOf(settings), now });
    return {
      ...stores,
      needsDisk: server !== undefined,
      canDeliver: async () => true,
      async close() {
        await stores.close();
        await server?.stop();
      },
    };
  } catch (error) {
    await server?.stop();
    if (error instanceof NewerSchemaError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const { hostOf } = await import('../drivers/postgres/connect.ts');
    throw new Error(`PostgreSQL at ${hostOf(url)} cannot be used: ${why} Check DATABASE_URL.`, { cause: error });
  }
}

const OPEN: Readonly<Record<Store, (context: StoresContext) => Promise<Stores>>> = {
  sqlite: openSqlite,
  postgres: openPostgres,
  dynamodb: openDynamoDb,
};

/**
 * Opens the stores that `STORE` names; the others' code is not even loaded. A local DynamoDB engine gets its tables here; on AWS
 * `prism create-tables` or the stack has made them.
 *
 * @throws Error if a local engine or a database does not answer, or tables are missing; SQLite's own errors for a file that cannot be opened
 */
export const openStores = (context: StoresContext): Promise<Stores> => OPEN[context.settings.STORE](context);
