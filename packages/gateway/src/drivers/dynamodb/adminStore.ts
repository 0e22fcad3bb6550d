import { randomUUID } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { RequestStatus } from '@prism-gateway/protocol';
import {
  type Activity,
  type AdminStore,
  type ChainCounts,
  HOUR_MS,
  KEPT_HOURS,
  KEPT_MINUTES,
  MAX_COUNTED_CHAINS,
  MAX_TOLD_RELAYERS,
  MINUTE_MS,
  type QueueStats,
  quantileOf,
  type RelayerStats,
} from '../../ports/adminStore.ts';
import { askStore } from './askStore.ts';
import { type Item, number, text } from './attributes.ts';
import { createAuditLog } from './auditLog.ts';
import { type Additions, isTime, letters, type MoveCounter, statsKeys } from './countMoves.ts';
import { findOldest } from './listRequests.ts';
import { readItems } from './readItems.ts';
import { removeRequest } from './removeRequest.ts';
import type { RequestTable } from './requestItem.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/** How long a process counts before it writes what it has counted, in milliseconds. */
const FLUSH_MS = 10_000;
/** Counts of one update: an expression has room for 300 operators. */
const COUNTS_AN_UPDATE = 100;
const DAY_MS = 24 * HOUR_MS;
/** Days that hold the hours that are kept, both ends included. */
const KEPT_DAYS = KEPT_HOURS / 24 + 1;

const countsOf = (item: Item | undefined): readonly (readonly [string, number])[] =>
  Object.entries(item ?? {}).flatMap(([name, { N }]) => (N === undefined ? [] : [[name, Number(N)] as const]));

/** When an item of activity is not read any more, in seconds since the epoch; undefined for the others. */
function expiryOf(key: string): number | undefined {
  const [, kind, place] = key.split('#');
  if (place === undefined) return undefined;
  const ms = kind === 'hour' ? (Number(place) + 3) * HOUR_MS : (Number(place) + KEPT_DAYS + 1) * DAY_MS;
  return ms / 1000;
}

/** Adds to the counts of one item of the stats. @throws DependencyUnavailableError */
export async function addCounts(
  table: Pick<RequestTable, 'client' | 'name'>,
  key: string,
  counts: readonly (readonly [string, number])[],
) {
  const expiresAt = expiryOf(key);
  for (let i = 0; i < counts.length; i += COUNTS_AN_UPDATE) {
    const part = counts.slice(i, i + COUNTS_AN_UPDATE);
    const names = Object.fromEntries(part.map(([name], n) => [`#n${n}`, name]));
    const values = Object.fromEntries(part.map(([, by], n) => [`:v${n}`, number(by)]));
    const write = (isWanted: (name: string) => boolean, sign: string) =>
      part.flatMap(([name], n) => (isWanted(name) ? [`#n${n}${sign}:v${n}`] : [])).join(', ');
    const adds = write((name) => !isTime(name), ' ');
    const sets = [write(isTime, ' = '), expiresAt === undefined ? '' : '#ttl = :ttl'].filter((set) => set !== '');
    const command = new UpdateItemCommand({
      TableName: table.name,
      Key: { requestId: text(key) },
      UpdateExpression: `${adds && `ADD ${adds}`} ${sets.length > 0 ? `SET ${sets.join(', ')}` : ''}`,
      ExpressionAttributeNames: { ...names, ...(expiresAt !== undefined && { '#ttl': TTL_ATTRIBUTE }) },
      ExpressionAttributeValues: { ...values, ...(expiresAt !== undefined && { ':ttl': number(expiresAt) }) },
    });
    await askStore(() => table.client.send(command));
  }
}

/** Names of chains come from strangers, and an item has its limit: beyond a number they are counted together. */
export function createChainBound(table: Pick<RequestTable, 'client' | 'name'>) {
  let known: Set<string> | undefined;
  async function load(): Promise<Set<string>> {
    const items = await readItems(table, [statsKeys.chains], { consistent: false });
    return new Set(countsOf(items.get(statsKeys.chains)).map(([name]) => name.slice(name.indexOf(' ') + 1)));
  }
  return async function bound(counts: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    known ??= await load();
    const bounded = new Map<string, number>();
    for (const [name, by] of counts) {
      const [status = '', chain = ''] = [name.slice(0, name.indexOf(' ')), name.slice(name.indexOf(' ') + 1)];
      const isApart = known.has(chain) || known.size < MAX_COUNTED_CHAINS;
      if (isApart) known.add(chain);
      const place = isApart ? name : `${status} `;
      bounded.set(place, (bounded.get(place) ?? 0) + by);
    }
    return bounded;
  };
}

/**
 * Makes the function that writes what a process has counted, every ten seconds at most. What cannot be written is kept for the next time:
 * stats never make a call fail.
 */
export function createFlush(table: RequestTable, counter: () => MoveCounter) {
  const bound = createChainBound(table);
  let flushedAt = table.now();
  let running: Promise<void> | undefined;
  async function write(additions: Additions): Promise<void> {
    const left = new Map(additions);
    try {
      for (const [key, counts] of additions) {
        await addCounts(table, key, [...(key === statsKeys.chains ? await bound(counts) : counts)]);
        left.delete(key);
      }
    } catch {
      counter().giveBack(left);
    }
  }
  async function flush(): Promise<void> {
    flushedAt = table.now();
    // What is under way began before what the caller has just done was counted.
    await running;
    running ??= write(counter().take()).finally(() => {
      running = undefined;
    });
    await running;
  }
  return {
    flush,
    async flushIfDue(): Promise<void> {
      if (table.now() - flushedAt >= FLUSH_MS) await flush();
    },
  };
}

function readChains(item: Item | undefined): ChainCounts[] {
  const chains = new Map<string, { -readonly [S in RequestStatus]: number }>();
  for (const [name, count] of countsOf(item)) {
    const chain = name.slice(name.indexOf(' ') + 1);
    const counts = chains.get(chain) ?? { pending: 0, processing: 0, success: 0, failed: 0 };
    // Written by this driver, by these names; a count that two processes move at once may pass through zero.
    counts[name.slice(0, name.indexOf(' ')) as RequestStatus] = Math.max(0, count);
    chains.set(chain, counts);
  }
  const all = [...chains].map(([chain, counts]) => ({ chainName: chain === '' ? null : chain, ...counts }));
  const weigh = ({ chainName, pending, processing }: ChainCounts) => (chainName === null ? -1 : pending + processing);
  return all.sort((one, other) => weigh(other) - weigh(one));
}

/** Reads the parts of one item of activity. @param partMs - a minute's length, or an hour's */
function readParts(item: Item | undefined, startMs: number, partMs: number): Activity[] {
  const parts = new Map<number, { -readonly [K in keyof Activity]: number }>();
  const kinds = Object.entries(letters) as [keyof typeof letters, string][];
  for (const [name, count] of countsOf(item)) {
    const kind = kinds.find(([, letter]) => name.endsWith(letter))?.[0];
    const part = Number.parseInt(name, 10);
    if (kind === undefined || Number.isNaN(part)) continue;
    const start = startMs + part * partMs;
    const acts = parts.get(part) ?? { start, posts: 0, claims: 0, success: 0, failed: 0 };
    acts[kind] += count;
    parts.set(part, acts);
  }
  return [...parts.values()].sort((one, other) => one.start - other.start);
}

function readRelayer(address: string, counts: ReadonlyMap<string, number>): RelayerStats {
  const histogram = new Map([...counts].flatMap(([name, n]) => (name[0] === 'h' ? [[Number(name.slice(1)), n]] : [])));
  const [medianMs, p95Ms] = [quantileOf(histogram, 0.5), quantileOf(histogram, 0.95)];
  const count = (name: string) => Math.max(0, counts.get(name) ?? 0);
  return {
    ...{ address, openClaims: count('o'), success: count('s'), failed: count('f'), conflicts: count('x') },
    ...(medianMs !== undefined && { medianMs }),
    ...(p95Ms !== undefined && { p95Ms }),
    lastSeenAt: count('t'),
  };
}

function readRelayers(item: Item | undefined): RelayerStats[] {
  const relayers = new Map<string, Map<string, number>>();
  for (const [name, count] of countsOf(item)) {
    const [address = '', field = ''] = name.split(' ');
    relayers.set(address, (relayers.get(address) ?? new Map<string, number>()).set(field, count));
  }
  const all = [...relayers].map(([address, counts]) => readRelayer(address, counts));
  return all.sort((one, other) => other.lastSeenAt - one.lastSeenAt).slice(0, MAX_TOLD_RELAYERS);
}

async function readStats(table: RequestTable, now: number): Promise<QueueStats> {
  const hours = [now - HOUR_MS, now];
  const days = Array.from({ length: KEPT_DAYS }, (_, back) => now - (KEPT_DAYS - 1 - back) * DAY_MS);
  const keys = [statsKeys.chains, statsKeys.relayers, ...hours.map(statsKeys.hour), ...days.map(statsKeys.day)];
  const [items, oldestPendingAt, oldestProcessingAt] = await Promise.all([
    readItems(table, keys, { consistent: false }),
    findOldest(table, { status: 'pending' }),
    findOldest(table, { status: 'processing' }),
  ]);
  const within = (ageMs: number) => (part: Activity) => part.start > now - ageMs;
  return {
    chains: readChains(items.get(statsKeys.chains)),
    ...(oldestPendingAt !== undefined && { oldestPendingAt }),
    ...(oldestProcessingAt !== undefined && { oldestProcessingAt }),
    minutes: hours
      .flatMap((at) => readParts(items.get(statsKeys.hour(at)), at - (at % HOUR_MS), MINUTE_MS))
      .filter(within(KEPT_MINUTES * MINUTE_MS)),
    hours: days
      .flatMap((at) => readParts(items.get(statsKeys.day(at)), at - (at % DAY_MS), HOUR_MS))
      .filter(within(KEPT_HOURS * HOUR_MS)),
    relayers: readRelayers(items.get(statsKeys.relayers)),
  };
}

interface AdminContext {
  readonly table: RequestTable;
  /** Writes what this process has counted. */
  readonly flush: () => Promise<void>;
  /** Tells those who wait for a request in this process that it is gone. */
  readonly removed: (requestId: string) => void;
}

/** What administrators do, in DynamoDB. */
export function createAdminStore({ table, flush, removed }: AdminContext): AdminStore {
  const bound = createChainBound(table);
  return {
    async readStats(now) {
      // What this process has just answered is in what it tells.
      await flush();
      return await readStats(table, now);
    },
    findOldestPending: (chainName) => findOldest(table, { status: 'pending', chainName }),
    async remove(requestId) {
      const removal = await removeRequest({ table, bound }, requestId);
      if (removal === 'removed') removed(requestId);
      return removal;
    },
    ...createAuditLog(table, randomUUID),
  };
}
