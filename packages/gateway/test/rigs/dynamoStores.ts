import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DYNAMO_TEST_ACCESS,
  type FaultProxy,
  missingDynamoEngine,
  startDynamo,
  startFaultProxy,
} from '@prism-gateway/testing';
import { describe } from 'vitest';
import type { DynamoClientSettings } from '../../src/drivers/dynamodb/createDynamoClient.ts';
import {
  createDynamoStores,
  type DynamoStores,
  type DynamoStoresOptions,
} from '../../src/drivers/dynamodb/createDynamoStores.ts';
import type { TableNames } from '../../src/drivers/dynamodb/tables.ts';
import type { CreateStore } from '../contracts/storeUnderTest.ts';
import { createEmptyTables, deliveriesOf } from './createEmptyTables.ts';
import { createPatientClient } from './createPatientClient.ts';

/** Names of the tables in tests. */
export const DYNAMO_TABLES: TableNames = {
  requests: 'service-requests-test',
  relayers: 'service-relayers-test',
  rateLimits: 'service-ratelimit-test',
};

/** Name of that of webhooks' deliveries. */
export const DYNAMO_DELIVERIES = deliveriesOf(DYNAMO_TABLES);

type OpenOptions = Partial<Omit<DynamoStoresOptions, 'tables' | 'deliveriesTable'>>;

/** An engine of its own with empty tables, behind a proxy. */
export interface DynamoRig extends AsyncDisposable {
  /** Between the stores and the engine; at first it does no harm. */
  readonly proxy: FaultProxy;
  /** Address of the engine itself, for looking at the tables. */
  readonly endpoint: string;
  /** Opens a client of the engine itself, for looking at the tables and changing them; it is closed with the rig. */
  openClient(): DynamoDBClient;
  /** Opens stores on the tables, as another process would. */
  open(options?: OpenOptions): DynamoStores;
  /** Ends the engine: from then on nothing answers. */
  stopEngine(): Promise<void>;
  /** Stops all. */
  dispose(): Promise<void>;
}

/** Starts an engine and creates the tables. */
export async function createDynamoRig({
  createClient = createPatientClient,
}: {
  readonly createClient?: (settings: DynamoClientSettings) => DynamoDBClient;
} = {}): Promise<DynamoRig> {
  const engine = await startDynamo();
  const proxy = await startFaultProxy({ upstream: engine.endpoint, answers: 'dynamodb' });
  const opened: DynamoStores[] = [];
  const clients: DynamoDBClient[] = [];
  await createEmptyTables({ endpoint: engine.endpoint }, DYNAMO_TABLES);
  const dispose = async () => {
    await Promise.all(opened.map((stores) => stores.close()));
    for (const client of clients) client.destroy();
    await proxy.close();
    await engine.close();
  };
  return {
    proxy,
    endpoint: engine.endpoint,
    openClient() {
      const client = createPatientClient({ endpoint: engine.endpoint, ...DYNAMO_TEST_ACCESS });
      clients.push(client);
      return client;
    },
    open(options = {}) {
      const stores = createDynamoStores({
        client: createClient({ endpoint: proxy.url, ...DYNAMO_TEST_ACCESS }),
        tables: DYNAMO_TABLES,
        deliveriesTable: DYNAMO_DELIVERIES,
        indexShards: 4,
        requestRetentionDays: 0,
        pendingRetentionDays: 0,
        now: Date.now,
        ...options,
      });
      opened.push(stores);
      return stores;
    },
    stopEngine: engine.close,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Makes one of the stores for a contract suite. */
export function dynamoStore<S>(select: (stores: DynamoStores) => S): CreateStore<S> {
  return async () => {
    const rig = await createDynamoRig();
    // Straight to the engine: nothing befalls these calls.
    const open = () => rig.open({ client: rig.openClient() });
    return {
      store: select(open()),
      openPeer: async () => select(open()),
      cutOff: rig.stopEngine,
      dispose: rig.dispose,
    };
  };
}

/** A group of tests that needs an engine; if none can run, it is skipped and says why. */
export function describeWithDynamo(name: string, tests: () => void): void {
  const missing = missingDynamoEngine();
  if (missing === undefined) describe(name, tests);
  else describe.skip(`${name} (${missing})`, tests);
}
