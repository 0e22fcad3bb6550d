import { setTimeout as pause } from 'node:timers/promises';
import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import { askStore } from './askStore.ts';
import { type Item, readText, text } from './attributes.ts';
import type { RequestTable } from './requestItem.ts';

/** Most keys of one BatchGetItem. */
const MAX_KEYS = 100;
/** Answers in a row without a single item after which the table counts as down. */
const MAX_IDLE_ROUNDS = 4;
/** Longest pause after such an answer, in milliseconds; it doubles with each. */
const FIRST_PAUSE_MS = 50;

type Table = Pick<RequestTable, 'client' | 'name'>;

interface ReadOptions {
  /** A consistent read shows every write that was answered; it costs twice as much. */
  readonly consistent: boolean;
}

async function readOnce({ client, name }: Table, keys: readonly string[], { consistent }: ReadOptions) {
  const asked = { Keys: keys.map((key) => ({ requestId: text(key) })), ConsistentRead: consistent };
  const output = await askStore(() => client.send(new BatchGetItemCommand({ RequestItems: { [name]: asked } })));
  const left = output.UnprocessedKeys?.[name]?.Keys ?? [];
  return { items: output.Responses?.[name] ?? [], left: left.map((key) => readText(key, 'requestId')) };
}

async function readBatch(table: Table, keys: readonly string[], options: ReadOptions): Promise<Item[]> {
  const items: Item[] = [];
  let left = keys;
  for (let idleRounds = 0; left.length > 0; ) {
    const answer = await readOnce(table, left, options);
    items.push(...answer.items);
    // Throttled, or more than the 16 MB of one answer.
    idleRounds = answer.left.length < left.length ? 0 : idleRounds + 1;
    if (idleRounds === MAX_IDLE_ROUNDS) throw new DependencyUnavailableError('store');
    if (idleRounds > 0) await pause(Math.random() * FIRST_PAUSE_MS * 2 ** idleRounds);
    left = answer.left;
  }
  return items;
}

/**
 * Reads items of the requests' table.
 *
 * @param keys - any number, each once
 * @returns what is there, by key
 * @throws DependencyUnavailableError
 */
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
