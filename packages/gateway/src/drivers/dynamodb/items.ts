import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DependencyUnavailableError } from '../../ports/errors.ts';

/** An item as DynamoDB's API has it. */
export type Item = Record<string, AttributeValue>;

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number): AttributeValue => ({ N: String(value) });
export const bytes = (value: Uint8Array): AttributeValue => ({ B: value });

/** An item that this driver cannot have written. */
export class BrokenItemError extends Error {
  override readonly name = 'BrokenItemError';
  readonly code = 'BROKEN_ITEM';

  constructor(attribute: string) {
    super(`An item lacks the attribute ${attribute}, or has it in another type: something else wrote to the table.`);
  }
}

function present<T>(value: T | undefined, attribute: string): T {
  if (value === undefined) throw new BrokenItemError(attribute);
  return value;
}

/** Reads text. @throws BrokenItemError */
export const readText = (item: Item, attribute: string): string => present(item[attribute]?.S, attribute);
/** Reads a number. @throws BrokenItemError */
export const readNumber = (item: Item, attribute: string): number => Number(present(item[attribute]?.N, attribute));
/** Reads bytes. @throws BrokenItemError */
export const readBytes = (item: Item, attribute: string): Uint8Array => present(item[attribute]?.B, attribute);

/** Reads what is there of some attributes. */
function readSome<K extends string, V>(item: Item, names: readonly K[], read: (item: Item, name: string) => V) {
  const there = names.filter((name) => item[name] !== undefined);
  // The names are those that were asked for.
  return Object.fromEntries(there.map((name) => [name, read(item, name)])) as { readonly [N in K]?: V };
}
/** Reads texts that may be absent. @throws BrokenItemError */
export const readTexts = <K extends string>(item: Item, ...names: readonly K[]) => readSome(item, names, readText);
/** Reads numbers that may be absent. @throws BrokenItemError */
export const readNumbers = <K extends string>(item: Item, ...names: readonly K[]) => readSome(item, names, readNumber);

/** Digits of a number that fit one byte. */
const DIGITS_A_BYTE = 2;

function sizeOfValue(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.B !== undefined) return value.B.length;
  if (value.N !== undefined) return Math.ceil(value.N.length / DIGITS_A_BYTE) + 1;
  throw new BrokenItemError('(of a type that is not used here)');
}

/**
 * Computes the size that DynamoDB bills an item by, at most a byte a number too much.
 *
 * @returns bytes
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function sizeOfItem(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + Buffer.byteLength(name) + sizeOfValue(value), 0);
}

/** A table of this driver. */
export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

/**
 * Runs calls to the tables; whatever they throw, after the client's own tries, is an outage to the caller. Every call of this driver goes
 * through here, so that each function which calls may throw `DependencyUnavailableError`.
 */
export async function askStore<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new DependencyUnavailableError('store', { cause: error });
  }
}

/** What became of a write: done, with an update's item after it; or refused by its condition, with the item as it stands, if there is one. */
export interface Written {
  readonly done: boolean;
  readonly item: Item | undefined;
}

/**
 * Runs one write. That its condition failed says nothing about who made it fail: after a lost answer the client asks again, and then
 * finds its own write.
 */
async function askToWrite(ask: () => Promise<{ readonly Attributes?: Item | undefined }>): Promise<Written> {
  return await askStore(async () => {
    try {
      return { done: true, item: (await ask()).Attributes };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { done: false, item: error.Item };
      throw error;
    }
  });
}

/** In expressions `#name` stands for the attribute `name`, and `:name` for a value of this name. */
interface Condition {
  readonly condition?: string;
  readonly values?: Item;
}

/** Gives all placeholders of expressions what they stand for. */
function explain(expressions: readonly (string | undefined)[], values: Item) {
  const names = [...expressions.join(' ').matchAll(/#(\w+)/g)].map(([place, name]) => [place, name ?? '']);
  return {
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) as Record<string, string> }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

const conditional = ({ condition }: Condition) =>
  condition === undefined
    ? {}
    : { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };

/** Changes to one item. */
export interface Update extends Condition {
  readonly key: Item;
  /** Attributes that become a value; undefined: that go. */
  readonly set?: Readonly<Record<string, AttributeValue | undefined>>;
  /** Attributes that become what an expression gives. */
  readonly compute?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  /** Numbers to add, or members of sets. */
  readonly add?: Item;
}

/** Updates an item, or makes it. @returns with the item after it */
export async function update({ client, name: TableName }: Table, order: Update): Promise<Written> {
  const { key: Key, set = {}, compute = {}, remove = [], add = {}, condition, values = {} } = order;
  const given = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const gone = [...remove, ...Object.keys(set).filter((name) => set[name] === undefined)];
  const sets = [
    ...given.map(([name]) => `#${name} = :${name}`),
    ...Object.entries(compute).map(([name, expression]) => `#${name} = ${expression}`),
  ];
  const adds = Object.keys(add).map((name) => `#${name} :${name}`);
  const UpdateExpression = [
    ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
    ...(gone.length > 0 ? [`REMOVE ${gone.map((name) => `#${name}`).join(', ')}`] : []),
    ...(adds.length > 0 ? [`ADD ${adds.join(', ')}`] : []),
  ].join(' ');
  const written = Object.fromEntries([...given, ...Object.entries(add)].map(([name, value]) => [`:${name}`, value]));
  const command = new UpdateItemCommand({
    ...{ TableName, Key, UpdateExpression, ...conditional(order), ReturnValues: 'ALL_NEW' },
    ...explain([UpdateExpression, condition], { ...written, ...values }),
  });
  return await askToWrite(() => client.send(command));
}

/** Stores an item. */
export async function put({ client, name: TableName }: Table, Item: Item, order: Condition = {}): Promise<Written> {
  const rest = { ...conditional(order), ...explain([order.condition], order.values ?? {}) };
  return await askToWrite(() => client.send(new PutItemCommand({ TableName, Item, ...rest })));
}

/** Removes an item. */
export async function remove({ client, name: TableName }: Table, Key: Item, order: Condition = {}): Promise<Written> {
  const rest = { ...conditional(order), ...explain([order.condition], order.values ?? {}) };
  return await askToWrite(() => client.send(new DeleteItemCommand({ TableName, Key, ...rest })));
}

/** Items of one partition of a table, or of an index of it, in order. */
export interface Query {
  readonly index?: string;
  /** The condition on the keys. */
  readonly keys: string;
  readonly filter?: string;
  readonly values: Item;
  readonly order?: 'asc' | 'desc';
  /** Most items to look at. */
  readonly limit?: number;
  readonly consistent?: boolean;
  /** Counts, and tells no items. */
  readonly countsOnly?: boolean;
}

/** Reads a page. @param after - `next` of the page before */
export async function queryPage({ client, name: TableName }: Table, query: Query, after?: Item) {
  const { index, keys, filter, values, order = 'asc', limit, consistent, countsOnly } = query;
  const command = new QueryCommand({
    ...{ TableName, KeyConditionExpression: keys, ...explain([keys, filter], values) },
    ...(index !== undefined && { IndexName: index }),
    ...(filter !== undefined && { FilterExpression: filter }),
    ...(order === 'desc' && { ScanIndexForward: false }),
    ...(limit !== undefined && { Limit: limit }),
    ...(consistent && { ConsistentRead: true }),
    ...(countsOnly && { Select: 'COUNT' }),
    ...(after !== undefined && { ExclusiveStartKey: after }),
  });
  const { Items: items = [], Count: count = 0, LastEvaluatedKey: next } = await askStore(() => client.send(command));
  return { items, count, next };
}

/** Reads all pages. */
export async function queryAll(table: Table, query: Query): Promise<Item[]> {
  const items: Item[] = [];
  let next: Item | undefined;
  do {
    const page = await queryPage(table, query, next);
    items.push(...page.items);
    next = page.next;
  } while (next !== undefined);
  return items;
}

/** Most keys of one BatchGetItem. */
const MAX_KEYS = 100;
/** Answers in a row without a single item after which the table counts as down. */
const MAX_IDLE_ROUNDS = 4;
/** Longest pause after such an answer, in milliseconds; it doubles with each. */
const FIRST_PAUSE_MS = 50;

interface ReadOptions {
  /** A consistent read shows every write that was answered; it costs twice as much. */
  readonly consistent: boolean;
}

async function readBatch(
  { client, name }: Table,
  keys: readonly string[],
  { consistent }: ReadOptions,
): Promise<Item[]> {
  const items: Item[] = [];
  let left = keys.map((key): Item => ({ requestId: text(key) }));
  for (let idleRounds = 0; left.length > 0; ) {
    const RequestItems = { [name]: { Keys: left, ConsistentRead: consistent } };
    const output = await askStore(() => client.send(new BatchGetItemCommand({ RequestItems })));
    items.push(...(output.Responses?.[name] ?? []));
    // Throttled, or more than the 16 MB of one answer.
    const still = output.UnprocessedKeys?.[name]?.Keys ?? [];
    idleRounds = still.length < left.length ? 0 : idleRounds + 1;
    if (idleRounds === MAX_IDLE_ROUNDS) throw new DependencyUnavailableError('store');
    if (idleRounds > 0) await pause(Math.random() * FIRST_PAUSE_MS * 2 ** idleRounds);
    left = still;
  }
  return items;
}

/** Reads items of the requests' table. @param keys - any number, each once @returns what is there, by key */
export async function readItems(
  table: Table,
  keys: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, Item>> {
  const batches = Array.from({ length: Math.ceil(keys.length / MAX_KEYS) }, (_, i) =>
    keys.slice(i * MAX_KEYS, (i + 1) * MAX_KEYS),
  );
  const items = await Promise.all(batches.map((batch) => readBatch(table, batch, options)));
  return new Map(items.flat().map((item) => [readText(item, 'requestId'), item]));
}

/** Reads one item, consistently. @returns undefined: there is none */
export async function readItem({ client, name: TableName }: Table, Key: Item): Promise<Item | undefined> {
  return (await askStore(() => client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true })))).Item;
}
