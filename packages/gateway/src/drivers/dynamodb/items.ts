import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DependencyUnavailableError } from '../../ports/errors.ts';

/** An attribute's value: text, a number, bytes, or a set of texts. */
export type Value = string | number | Uint8Array | ReadonlySet<string>;
/** An item, or some of its attributes. What is undefined is not there. */
export type Item = Readonly<Record<string, Value | undefined>>;

export type Attributes = Record<string, AttributeValue>;

function writeValue(value: Value): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value instanceof Uint8Array ? { B: value } : { SS: [...value] };
}

function readValue({ S, N, B, SS }: AttributeValue): Value | undefined {
  return S ?? (N === undefined ? undefined : Number(N)) ?? B ?? (SS && new Set(SS));
}

const writeItem = (item: Item): Attributes =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, writeValue(value)]])),
  );

/** Reads an item as DynamoDB's API has it; attributes of types that are not used here are left out. */
export const readAttributes = (attributes: Attributes = {}): Item =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, readValue(value)]));

const readAnswer = (attributes: Attributes | undefined) => attributes && readAttributes(attributes);

/** An item that this driver cannot have written. */
export class BrokenItemError extends Error {
  override readonly name = 'BrokenItemError';
  readonly code = 'BROKEN_ITEM';

  constructor(attribute: string) {
    super(`An item lacks the attribute ${attribute}, or has it in another type: something else wrote to the table.`);
  }
}

/** The types of attributes, by the names that `readFields` takes. */
interface Types {
  readonly text: string;
  readonly number: number;
  readonly bytes: Uint8Array;
}
type Shape = Readonly<Record<string, keyof Types>>;
type Fields<Given extends Shape, Optional extends Shape> = { readonly [Name in keyof Given]: Types[Given[Name]] } & {
  readonly [Name in keyof Optional]?: Types[Optional[Name]];
};

const typeOf = (value: Value | undefined) =>
  typeof value === 'string' ? 'text' : value instanceof Uint8Array ? 'bytes' : typeof value;

/** Reads attributes of an item; an optional one that is absent is no property of the result. @throws BrokenItemError */
export function readFields<const Given extends Shape, const Optional extends Shape = Record<never, never>>(
  item: Item,
  given: Given,
  optional?: Optional,
): Fields<Given, Optional> {
  const there = Object.entries(optional ?? {}).filter(([name]) => item[name] !== undefined);
  const fields = [...Object.entries(given), ...there].map(([name, type]) => {
    if (typeOf(item[name]) !== type) throw new BrokenItemError(name);
    return [name, item[name]];
  });
  // Each was just checked.
  return Object.fromEntries(fields) as Fields<Given, Optional>;
}

/** Reads text. @throws BrokenItemError */
export const readText = (item: Item, name: string): string => readFields(item, { [name]: 'text' })[name] as string;
/** Reads bytes. @throws BrokenItemError */
export const readBytes = (item: Item, name: string) => readFields(item, { [name]: 'bytes' })[name] as Uint8Array;
/** Reads a number. @throws BrokenItemError */
export const readNumber = (item: Item, name: string): number => readFields(item, { [name]: 'number' })[name] as number;

/** Digits of a number that fit one byte. */
const DIGITS_A_BYTE = 2;

function sizeOfValue(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / DIGITS_A_BYTE) + 1;
  return value instanceof Uint8Array ? value.length : [...value].join('').length;
}

/**
 * Computes the size that DynamoDB bills an item by, at most a byte a number too much.
 *
 * @returns bytes
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function sizeOfItem(item: Item): number {
  return Object.entries(item).reduce(
    (size, [name, value]) => size + (value === undefined ? 0 : Buffer.byteLength(name) + sizeOfValue(value)),
    0,
  );
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

/** The result of a write: done, with the item after an update; or refused by its condition, with the item as it stands, if there is one. */
export interface Written {
  readonly done: boolean;
  readonly item: Item | undefined;
}

/**
 * Runs one write. That its condition failed says nothing about who made it fail: after a lost answer the client asks again, and then
 * finds its own write.
 */
async function askToWrite(ask: () => Promise<{ readonly Attributes?: Attributes | undefined }>): Promise<Written> {
  return await askStore(async () => {
    try {
      return { done: true, item: readAnswer((await ask()).Attributes) };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return { done: false, item: readAnswer(error.Item) };
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
  const written = writeItem(values);
  const names = [...expressions.join(' ').matchAll(/#(\w+)/g)].map(([place, name]) => [place, name ?? '']);
  return {
    ...(names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names) as Record<string, string> }),
    ...(Object.keys(written).length > 0 && { ExpressionAttributeValues: written }),
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
  readonly set?: Item;
  /** Attributes that become what an expression gives. */
  readonly compute?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  /** Numbers to add, or members of sets. */
  readonly add?: Item;
}

/** Updates an item, or makes it. @returns with the item after it */
export async function update({ client, name: TableName }: Table, order: Update): Promise<Written> {
  const { key, set = {}, compute = {}, remove = [], add = {}, condition, values = {} } = order;
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
    ...{ TableName, Key: writeItem(key), UpdateExpression, ...conditional(order), ReturnValues: 'ALL_NEW' },
    ...explain([UpdateExpression, condition], { ...written, ...values }),
  });
  return await askToWrite(() => client.send(command));
}

/** Stores an item. */
export async function put({ client, name: TableName }: Table, item: Item, order: Condition = {}): Promise<Written> {
  const Item = writeItem(item);
  const rest = { ...conditional(order), ...explain([order.condition], order.values ?? {}) };
  return await askToWrite(() => client.send(new PutItemCommand({ TableName, Item, ...rest })));
}

/** Removes an item. */
export async function remove({ client, name: TableName }: Table, key: Item, order: Condition = {}): Promise<Written> {
  const Key = writeItem(key);
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
  /** Counts, and returns no items. */
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
    ...(after !== undefined && { ExclusiveStartKey: writeItem(after) }),
  });
  const { Items = [], Count: count = 0, LastEvaluatedKey } = await askStore(() => client.send(command));
  return { items: Items.map(readAttributes), count, next: readAnswer(LastEvaluatedKey) };
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

/** Reads a small table whole, consistently. */
export const scanAll = (table: Table): Promise<Item[]> =>
  askStore(async () => {
    const items: Item[] = [];
    for await (const { Items = [] } of paginateScan(table, { TableName: table.name, ConsistentRead: true }))
      items.push(...Items.map(readAttributes));
    return items;
  });

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
  let left = keys.map((requestId) => writeItem({ requestId }));
  for (let idleRounds = 0; left.length > 0; ) {
    const RequestItems = { [name]: { Keys: left, ConsistentRead: consistent } };
    const output = await askStore(() => client.send(new BatchGetItemCommand({ RequestItems })));
    items.push(...(output.Responses?.[name] ?? []).map(readAttributes));
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
export async function readItem({ client, name: TableName }: Table, key: Item): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName, Key: writeItem(key), ConsistentRead: true });
  return readAnswer((await askStore(() => client.send(command))).Item);
}
