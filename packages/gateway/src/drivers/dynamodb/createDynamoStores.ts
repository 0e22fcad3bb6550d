import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { AdminStore } from '../../ports/adminStore.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { RateLimitStore } from '../../ports/rateLimitStore.ts';
import type { RelayerStore } from '../../ports/relayerStore.ts';
import type { RequestChanges } from '../../ports/requestChanges.ts';
import type { RequestStore } from '../../ports/requestStore.ts';
import { createAdminStore, createFlush } from './adminStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { type Item, number, readNumber, text } from './attributes.ts';
import { countMoves } from './countMoves.ts';
import { createRequestChanges } from './createRequestChanges.ts';
import { createRateLimitStore } from './rateLimitStore.ts';
import { createRelayerStore } from './relayerStore.ts';
import type { RequestTable } from './requestItem.ts';
import { createRequestStore, type MoveListener } from './requestStore.ts';
import type { TableNames } from './tables.ts';

/** How this version lays requests out. */
const LAYOUT_VERSION = 1;
/** Key of the item that says how a table is laid out. */
const LAYOUT_KEY: Item = { requestId: text('layout') };

type Table = Pick<RequestTable, 'client' | 'name' | 'shards'>;

/** A table that this process must not use as it is: some of its requests would be in no list. */
class TableLayoutError extends Error {
  override readonly name = 'TableLayoutError';
  readonly code = 'TABLE_LAYOUT';
}

/** @throws TableLayoutError where the table is not for this process */
function judgeLayout({ name, shards }: Table, layout: Item): void {
  const [version, highest] = [readNumber(layout, 'version'), readNumber(layout, 'shards')];
  if (version > LAYOUT_VERSION) {
    throw new TableLayoutError(`The table ${name} was written by a later version of the gateway; run that one.`);
  }
  if (highest > shards) {
    const why = `INDEX_SHARDS is ${shards}, and requests of ${name} have been spread over ${highest}`;
    throw new TableLayoutError(`${why}: those in the shards beyond would be in no list. Set INDEX_SHARDS=${highest}.`);
  }
}

async function readLayout({ client, name: TableName }: Table): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName, Key: LAYOUT_KEY, ConsistentRead: true });
  return (await askStore(() => client.send(command))).Item;
}

/** Stores that this many shards are in use, if no more were before. */
async function raiseShards({ client, name: TableName, shards }: Table): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName,
    Key: LAYOUT_KEY,
    UpdateExpression: 'SET shards = :shards',
    ConditionExpression: 'shards <= :shards',
    ExpressionAttributeValues: { ':shards': number(shards) },
  });
  return (await askConditionally(() => client.send(command))).done;
}

/** @returns false if another process has just stored it */
async function storeLayout({ client, name: TableName, shards }: Table): Promise<boolean> {
  const layout = { ...LAYOUT_KEY, version: number(LAYOUT_VERSION), shards: number(shards) };
  const put = { TableName, Item: layout, ConditionExpression: 'attribute_not_exists(requestId)' };
  return (await askConditionally(() => client.send(new PutItemCommand(put)))).done;
}

/**
 * Checks that this process may use a table, and stores the highest number of shards that was ever used.
 * @see docs/specification.md DYNAMO-1, DYNAMO-8
 */
async function checkTableLayout(table: Table): Promise<void> {
  const layout = await readLayout(table);
  if (layout !== undefined) judgeLayout(table, layout);
  if (layout !== undefined && readNumber(layout, 'shards') >= table.shards) return;
  const isStored = await (layout === undefined ? storeLayout(table) : raiseShards(table));
  // Refused: another process has just begun to use the table, or more shards of it.
  if (!isStored) await checkTableLayout(table);
}

export interface DynamoStoresOptions {
  /** As `createDynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tables: TableNames;
  /** Partitions that requests of one status, and of one chain, are spread over; it may grow, never shrink. */
  readonly indexShards: number;
  /** Days after which finished requests expire; 0: never. */
  readonly requestRetentionDays: number;
  /** Days after which requests expire that nobody has claimed; 0: never. */
  readonly pendingRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface DynamoStores {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  /**
   * Checks, before the first call, that the requests' table is for this process. Where it does not answer, that is left to the first
   * call.
   *
   * @throws TableLayoutError
   */
  prepare(): Promise<void>;
  /** Resolves when all three tables answer. @throws DependencyUnavailableError, TableLayoutError */
  checkReady(): Promise<void>;
  /** Closes the connections. */
  close(): Promise<void>;
}

/**
 * Remembers that the requests' table may be used. Where it does not answer at the start it is asked again before the first call that
 * needs it.
 */
function createLayoutGate(table: RequestTable): () => Promise<void> | undefined {
  let isChecked = false;
  let checking: Promise<void> | undefined;
  async function check(): Promise<void> {
    try {
      await checkTableLayout(table);
      isChecked = true;
    } finally {
      checking = undefined;
    }
  }
  return () => {
    if (isChecked) return undefined;
    checking ??= check();
    return checking;
  };
}

/** Has every call wait until the table is known to be for this process. */
function behindGate(store: RequestStore, pass: () => Promise<void> | undefined): RequestStore {
  const waiting = Object.entries(store).map(([name, call]) => {
    return [
      name,
      async (...args: readonly unknown[]) => {
        const passing = pass();
        if (passing !== undefined) {
          await passing.catch((cause: unknown) => {
            throw new DependencyUnavailableError('store', { cause });
          });
        }
        return await call(...args);
      },
    ];
  });
  // The same names, with functions that take and return the same.
  return Object.fromEntries(waiting) as RequestStore;
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
  const { client, tables, indexShards, requestRetentionDays: retentionDays, pendingRetentionDays, now } = options;
  const name = tables.requests;
  const requestTable = { client, name, shards: indexShards, retentionDays, pendingRetentionDays, now };
  const passGate = createLayoutGate(requestTable);
  const changes = createRequestChanges(requestTable);
  const flushing = createFlush(requestTable, () => counter);
  const listener: MoveListener = { tell: changes.tell, released: (...release) => noteRelease(...release) };
  const store = behindGate(createRequestStore(requestTable, listener), passGate);
  const { requests, counter, noteRelease } = countMoves(store, flushing.flushIfDue);
  return {
    requests,
    changes,
    admin: createAdminStore({ table: requestTable, flush: flushing.flush, removed: changes.removed }),
    relayers: createRelayerStore(client, tables.relayers),
    rateLimits: createRateLimitStore({ client, name: tables.rateLimits, now }),
    async prepare() {
      await passGate()?.catch((error: unknown) => {
        if (!(error instanceof DependencyUnavailableError)) throw error;
      });
    },
    async checkReady() {
      await passGate();
      await askStore(() =>
        Promise.all(probeKeys(tables).map(([TableName, Key]) => client.send(new GetItemCommand({ TableName, Key })))),
      );
    },
    async close() {
      changes.close();
      await flushing.flush();
      client.destroy();
    },
  };
}
