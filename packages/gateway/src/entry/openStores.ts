import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Environment } from '@prism-gateway/runtime/settings';
import type { AdminStore } from '../ports/adminStore.ts';
import type { Logger } from '../ports/logger.ts';
import type { RateLimitStore } from '../ports/rateLimitStore.ts';
import type { RelayerStore } from '../ports/relayerStore.ts';
import type { RequestChanges } from '../ports/requestChanges.ts';
import type { RequestStore } from '../ports/requestStore.ts';
import type { DeliveryQueue, WebhookStore } from '../ports/webhookStore.ts';
import type { WorkerThread } from '../ports/workerThread.ts';
import { dynamoAccess, localEndpoint } from './dynamoAccess.ts';
import type { Settings } from './settings.ts';

export interface Stores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  readonly webhooks: WebhookStore;
  /** What this process is to deliver; absent: others deliver. */
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
  readonly logger: Logger;
}

/** Without a region every call would fail, and only then. */
async function requireRegion(client: DynamoDBClient): Promise<void> {
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
  const { settings, environment, now, logger } = context;
  const access = { stage: settings.STAGE, environment };
  const { createDynamoClient } = await import('../drivers/dynamodb/createDynamoClient.ts');
  const { createDynamoStores } = await import('../drivers/dynamodb/createDynamoStores.ts');
  const client = createDynamoClient(dynamoAccess(access));
  const endpoint = localEndpoint(access);
  await requireRegion(client);
  if (endpoint !== undefined) {
    const { createDeliveriesTable, createTables } = await import('../drivers/dynamodb/createTables.ts');
    const creating = [createTables(client, settings.tables), createDeliveriesTable(client, settings.deliveriesTable)];
    await Promise.all(creating).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`DynamoDB at ${endpoint} cannot be used: start it, or set STORE=sqlite. (${why})`, { cause });
    });
  }
  const { INDEX_SHARDS: indexShards, tables } = settings;
  const stores = createDynamoStores({ client, tables, indexShards, ...retentionOf(settings), now });
  await stores.prepare();
  const { createWebhookStore } = await import('../drivers/dynamodb/webhookStore.ts');
  const names = { requests: tables.requests, deliveries: settings.deliveriesTable };
  const all = { ...stores, webhooks: createWebhookStore(client, names) };
  if (settings.WEBHOOKS_DELIVERED_BY === 'functions') return { ...all, canDeliver: async () => true };
  const { startDynamoDeliveries } = await import('./startDynamoDeliveries.ts');
  const { changes } = stores;
  const delivering = startDynamoDeliveries({ client, settings, environment, changes, logger, now });
  return {
    ...all,
    ...delivering,
    async close() {
      await delivering.close();
      await stores.close();
    },
  };
}

/**
 * Opens the stores that `STORE` names; the other's code is not even loaded. A local DynamoDB engine gets its tables here, on AWS
 * they are there already.
 *
 * @throws Error where a local engine does not answer; SQLite's own errors for a file that cannot be opened
 */
export async function openStores(context: StoresContext): Promise<Stores> {
  const { settings } = context;
  if (settings.STORE === 'dynamodb') return await openDynamoDb(context);
  const { openSqliteStores } = await import('../drivers/sqlite/openSqliteStores.ts');
  const { thread, now } = context;
  const { databaseFile: file, tables } = settings;
  const stores = await openSqliteStores({ file, tables, thread, ...retentionOf(settings), now });
  return { ...stores, canDeliver: async () => true };
}
