import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AdminStore } from '../../ports/adminStore.ts';
import type { RateLimitStore } from '../../ports/rateLimitStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import { createAdminStore, createFlush } from './adminStore.ts';
import { askStore } from './askStore.ts';
import { type Item, number, text } from './attributes.ts';
import { countMoves } from './countMoves.ts';
import { createRateLimitStore } from './rateLimitStore.ts';
import { createRelayerStore } from './relayerStore.ts';
import { createRequestStore } from './requestStore.ts';
import type { TableNames } from './tables.ts';

export interface DynamoStoresOptions {
  /** As `createDynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tables: TableNames;
  /** Partitions that requests of one status, and of one chain, are spread over; it may grow, never shrink. */
  readonly indexShards: number;
  /** Days after which finished requests expire; 0: never. */
  readonly requestRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface DynamoStores {
  readonly requests: RequestStore;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  /** Resolves when all three tables answer. @throws DependencyUnavailableError */
  checkReady(): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}

/** Keys that no item has, one of each table. */
function probeKeys({ requests, relayers, rateLimits }: TableNames): readonly (readonly [string, Item])[] {
  return [
    [requests, { requestId: text('ready') }],
    [relayers, { address: text('ready') }],
    [rateLimits, { client: text('ready'), window: number(0) }],
  ];
}

/**
 * Makes the stores on DynamoDB; the tables are there already.
 *
 * @returns stores that hold connections until they are closed
 */
export function createDynamoStores(options: DynamoStoresOptions): DynamoStores {
  const { client, tables, indexShards, requestRetentionDays, now } = options;
  const requestTable = { client, name: tables.requests, shards: indexShards, retentionDays: requestRetentionDays, now };
  const flushing = createFlush(requestTable, () => counter);
  const { requests, counter } = countMoves(createRequestStore(requestTable), flushing.flushIfDue);
  return {
    requests,
    admin: createAdminStore(requestTable, flushing.flush),
    relayers: createRelayerStore(client, tables.relayers),
    rateLimits: createRateLimitStore({ client, name: tables.rateLimits, now }),
    async checkReady() {
      await askStore(() =>
        Promise.all(probeKeys(tables).map(([TableName, Key]) => client.send(new GetItemCommand({ TableName, Key })))),
      );
    },
    async close() {
      await flushing.flush();
      client.destroy();
    },
  };
}
