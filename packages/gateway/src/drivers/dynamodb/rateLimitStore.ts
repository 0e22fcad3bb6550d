import { createHash } from 'node:crypto';
import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  type RateLimitStore,
  slidingUse,
  type Take,
  type TakeResult,
  type WindowCounts,
} from '../../ports/rateLimitStore.ts';
import { askConditionally, askStore } from './askStore.ts';
import { number, readNumber, text } from './attributes.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/**
 * Turns the one formula of the rate limits into a bound that a condition can hold: the most hits that the current window may
 * have.
 *
 * @param previous - hits of the window before
 * @param take - the hit that is asked for
 * @returns a whole number; less than one: not even this hit
 */
export function mostHits(previous: number, { window, elapsed, limit }: Omit<Take, 'key'>): number {
  const useOf = (current: number) => slidingUse({ current, previous }, { window, elapsed });
  const guess = Math.floor(limit - useOf(0));
  // Some fractions are rounded another way in the sum than in the difference.
  return useOf(guess + 1) <= limit ? guess + 1 : guess;
}

/** Most clients that one process remembers; the table knows the others. */
const MAX_CLIENTS = 20_000;
/** Longest name of a client that is stored as it is, in bytes: a key of DynamoDB holds 2048. */
const MAX_KEY_BYTES = 1024;
/** How long a counter is kept after its last hit, in seconds: windows are a minute long, and two of them matter. */
const COUNTER_LIFETIME_SECONDS = 180;

/** What a process knows of a client in one window. */
interface Known {
  readonly window: number;
  readonly previous: number;
  /** Hits that the window has at least: they only grow. */
  current: number;
}

interface RateLimitTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

function storedName(key: string): string {
  if (Buffer.byteLength(key) <= MAX_KEY_BYTES) return key;
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** Reads a window's count and that of the window before, in one call. */
async function readCounts({ client, name }: RateLimitTable, key: string, window: number): Promise<WindowCounts> {
  const command = new QueryCommand({
    TableName: name,
    KeyConditionExpression: 'client = :client AND #window BETWEEN :previous AND :current',
    ExpressionAttributeNames: { '#window': 'window' },
    ExpressionAttributeValues: {
      ':client': text(storedName(key)),
      ':previous': number(window - 1),
      ':current': number(window),
    },
    ConsistentRead: true,
  });
  const { Items: items = [] } = await askStore(() => client.send(command));
  const hitsIn = (wanted: number) => {
    const item = items.find((candidate) => readNumber(candidate, 'window') === wanted);
    return item === undefined ? 0 : readNumber(item, 'hits');
  };
  return { current: hitsIn(window), previous: hitsIn(window - 1) };
}

/** Counts hits by one conditional write. @returns hits of the window after it, or as they stand */
async function countHits(table: RateLimitTable, { key, window, hits = 1 }: Take, most: number) {
  const answer = await askConditionally(() =>
    table.client.send(
      new UpdateItemCommand({
        TableName: table.name,
        Key: { client: text(storedName(key)), window: number(window) },
        UpdateExpression: 'SET #expiresAt = :expiresAt ADD hits :hits',
        ConditionExpression: 'attribute_not_exists(hits) OR hits <= :room',
        ExpressionAttributeNames: { '#expiresAt': TTL_ATTRIBUTE },
        ExpressionAttributeValues: {
          ':expiresAt': number(Math.ceil(table.now() / 1000) + COUNTER_LIFETIME_SECONDS),
          ':hits': number(hits),
          ':room': number(most - hits),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  const item = answer.done ? answer.output.Attributes : answer.item;
  return { allowed: answer.done, current: item === undefined ? 0 : readNumber(item, 'hits') };
}

/**
 * Counters in DynamoDB: a call's hits are one conditional write, exact among all processes. The window before is read once, for it no
 * longer changes; and since hits only grow, whoever is known to be over the limit is refused from memory, so that a flood costs
 * nothing.
 *
 * After a lost answer the client's further try may count a hit twice: a limit may then come early, never late.
 */
export function createRateLimitStore(table: RateLimitTable): RateLimitStore {
  const clients = new Map<string, Known>();

  function remember(key: string, known: Known): void {
    clients.delete(key);
    clients.set(key, known);
    if (clients.size <= MAX_CLIENTS) return;
    const [oldest] = clients.keys();
    if (oldest !== undefined) clients.delete(oldest);
  }

  async function knownOf({ key, window }: Take): Promise<Known> {
    const known = clients.get(key);
    if (known?.window === window) return known;
    const counts = await readCounts(table, key, window);
    const learnt = { window, ...counts };
    remember(key, learnt);
    return learnt;
  }

  return {
    async take(take): Promise<TakeResult> {
      const known = await knownOf(take);
      const { previous } = known;
      const most = mostHits(previous, take);
      if (known.current + (take.hits ?? 1) > most)
        return { allowed: false, counts: { current: known.current, previous } };
      const { allowed, current } = await countHits(table, take, most);
      known.current = Math.max(known.current, current);
      return { allowed, counts: { current, previous } };
    },
    peek: (key, window) => readCounts(table, key, window),
    *known() {
      for (const [key, { window, current, previous }] of clients) yield { key, window, counts: { current, previous } };
    },
  };
}
