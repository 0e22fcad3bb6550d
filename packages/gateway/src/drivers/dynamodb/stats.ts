import type { RequestStatus } from '@prism-gateway/protocol';
import {
  type Activity,
  type ChainCounts,
  HOUR_MS,
  KEPT_HOURS,
  KEPT_MINUTES,
  MAX_TOLD_RELAYERS,
  MINUTE_MS,
  type QueueStats,
  quantileOf,
  type RelayerStats,
} from '../../ports/adminStore.ts';
import { type Item, queryAll, readText, type Table } from './items.ts';

export const DAY_MS = 24 * HOUR_MS;
/** Minutes of half an hour stand in one item, which is one write unit. */
export const MINUTES_MS = 30 * MINUTE_MS;
/** Digits of a number in a key, so that keys sort as numbers do. */
const KEY_DIGITS = 9;

const numbered = (prefix: string, ms: number, unitMs: number) =>
  `${prefix}#${String(Math.floor(ms / unitMs)).padStart(KEY_DIGITS, '0')}`;

/** Names the items of the stats: one a chain, one a relayer, one a half-hour with its minutes, and one a day with its hours. */
export const statsKeys = {
  chain: (name: string) => `chain#${name}`,
  relayer: (address: string) => `relayer#${address.toLowerCase()}`,
  minutes: (ms: number) => numbered('minutes', ms, MINUTES_MS),
  hours: (ms: number) => numbered('hours', ms, DAY_MS),
} as const;

/** The counts of a part of time or of a relayer, in one letter each: names are paid for with every read. */
export const letters = { posts: 'p', claims: 'c', success: 's', failed: 'f' } as const;
/** Other counters of a relayer: open claims, claims won by rivals, and when it was seen last. */
export const relayerLetters = { open: 'o', conflicts: 'x', seen: 't' } as const;

/** The stats' lane in the table of deliveries: no write of them is reported by the stream that they come from. */
export const STATS_LANE = 'stats';
/** All chains beyond those that are counted apart. */
export const OTHERS = statsKeys.chain('');

/** Reads the items of some places, by place. */
async function readPlaces(deliveries: Table, from: string, to: string): Promise<ReadonlyMap<string, Item>> {
  const items = await queryAll(deliveries, {
    keys: 'lane = :lane AND place BETWEEN :from AND :to',
    values: { ':lane': STATS_LANE, ':from': from, ':to': to },
  });
  return new Map(items.map((item) => [readText(item, 'place'), item]));
}

/** Reads all items of a kind. */
export const readKind = (deliveries: Table, kind: 'chain' | 'relayer') =>
  readPlaces(deliveries, `${kind}#`, `${kind}#~`);

const countsOf = (item: Item): readonly (readonly [string, number])[] =>
  Object.entries(item).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value] as const] : []));

/** Reads one count. One that two processes move at once may pass through zero. */
const counter = (item: Item) => {
  const counts = new Map(countsOf(item));
  return (name: string) => Math.max(0, counts.get(name) ?? 0);
};

function readChains(items: ReadonlyMap<string, Item>): ChainCounts[] {
  const all = [...items].map(([place, item]): ChainCounts => {
    const count: (status: RequestStatus) => number = counter(item);
    const chainName = place === OTHERS ? null : place.slice('chain#'.length);
    const [pending, processing] = [count('pending'), count('processing')];
    return { chainName, pending, processing, success: count('success'), failed: count('failed') };
  });
  const weigh = ({ chainName, pending, processing }: ChainCounts) => (chainName === null ? -1 : pending + processing);
  return all.sort((one, other) => weigh(other) - weigh(one));
}

function readRelayers(items: ReadonlyMap<string, Item>): RelayerStats[] {
  const all = [...items].map(([place, item]): RelayerStats => {
    const count = counter(item);
    const histogram = new Map(
      countsOf(item).flatMap(([name, n]) => (name[0] === 'h' ? [[Number(name.slice(1)), n]] : [])),
    );
    const [medianMs, p95Ms] = [quantileOf(histogram, 0.5), quantileOf(histogram, 0.95)];
    const lastSeenAt = count(relayerLetters.seen);
    return {
      ...{ address: place.slice('relayer#'.length), openClaims: count(relayerLetters.open) },
      ...{ success: count(letters.success), failed: count(letters.failed), conflicts: count(relayerLetters.conflicts) },
      ...(medianMs !== undefined && { medianMs }),
      ...(p95Ms !== undefined && { p95Ms }),
      ...(lastSeenAt > 0 && { lastSeenAt }),
    };
  });
  return all.sort((one, other) => (other.lastSeenAt ?? 0) - (one.lastSeenAt ?? 0)).slice(0, MAX_TOLD_RELAYERS);
}

/** Reads the parts of one item of activity. @param partMs - a minute's length, or an hour's */
function readParts(item: Item, startMs: number, partMs: number): Activity[] {
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

/** How activity is kept: the length of an item, of a part of it, and of what is reported. */
const KINDS = {
  minutes: { itemMs: MINUTES_MS, partMs: MINUTE_MS, keptMs: KEPT_MINUTES * MINUTE_MS },
  hours: { itemMs: DAY_MS, partMs: HOUR_MS, keptMs: KEPT_HOURS * HOUR_MS },
} as const;

/** Reads activity of the last time. */
async function readActivity(deliveries: Table, kind: keyof typeof KINDS, now: number): Promise<Activity[]> {
  const { itemMs, partMs, keptMs } = KINDS[kind];
  const items = await readPlaces(deliveries, statsKeys[kind](now - keptMs), statsKeys[kind](now));
  return [...items]
    .flatMap(([place, item]) => readParts(item, Number(place.split('#')[1]) * itemMs, partMs))
    .filter(({ start }) => start > now - keptMs);
}

/** Reads the counts. */
export async function readCounts(
  deliveries: Table,
  now: number,
): Promise<Omit<QueueStats, 'oldestPendingAt' | 'oldestProcessingAt'>> {
  const [chains, relayers, minutes, hours] = await Promise.all([
    readKind(deliveries, 'chain'),
    readKind(deliveries, 'relayer'),
    readActivity(deliveries, 'minutes', now),
    readActivity(deliveries, 'hours', now),
  ]);
  return { chains: readChains(chains), relayers: readRelayers(relayers), minutes, hours };
}
