import { randomUUID } from 'node:crypto';
import { createSemaphore } from '@prism-gateway/node';
import { bucketOf, HOUR_MS, KEPT_HOURS, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
import type { Logger } from '../../ports/logger.ts';
import {
  type Attributes,
  BrokenItemError,
  type Item,
  readAttributes,
  readFields,
  remove,
  type Table,
  update,
} from './items.ts';
import { type RequestHeader, readRecord } from './record.ts';
import { DAY_MS, letters, MINUTES_MS, OTHERS, readKind, relayerLetters, STATS_LANE, statsKeys } from './stats.ts';
import { TTL_ATTRIBUTE } from './tables.ts';

/**
 * A record of the stream of the requests' table, as Lambda has it. Its items' numbers and texts are those of the table; bytes are not
 * read here.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
 */
export interface StreamRecord {
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    readonly NewImage?: Attributes;
    readonly OldImage?: Attributes;
  };
}

type RequestRecord = RequestHeader['record'];

/** The change that a write made to a request. */
export interface RequestChange {
  /** Where the write stands among all: text that grows. */
  readonly place: string;
  /** Absent: it is new. */
  readonly before?: RequestRecord;
  /** Absent: it is gone. */
  readonly after?: RequestRecord;
  /** Whether its status has moved, or its claim has gone to another relayer. */
  readonly isMove: boolean;
  /** The item of its params, if they have one. */
  readonly paramsKey?: string;
}

/** Digits of a sequence number at most; written out, they stand in order. */
const PLACE_DIGITS = 40;

/** Reads a request's image. @returns undefined: other items of the table have no status */
const readImage = (image: Item) => (image.status === undefined ? undefined : readRecord(image));

/**
 * Reads what a record of the stream says of a request. One that nobody here has written is reported and passed over, for it would stop
 * all behind it.
 *
 * @returns undefined: it is about something else
 */
export function readChange({ dynamodb = {} }: StreamRecord, logger: Logger): RequestChange | undefined {
  const { NewImage, OldImage, SequenceNumber = '' } = dynamodb;
  try {
    const [before, after] = [readImage(readAttributes(OldImage)), readImage(readAttributes(NewImage))];
    if (before === undefined && after === undefined) return undefined;
    const isTaken = after?.claimedBy !== undefined && before?.claimedBy !== undefined;
    const { paramsKey } = readFields(readAttributes(NewImage ?? OldImage), {}, { paramsKey: 'text' });
    return {
      place: SequenceNumber.padStart(PLACE_DIGITS, '0'),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      isMove: before?.status !== after?.status || (isTaken && after.claimedBy !== before.claimedBy),
      ...(paramsKey !== undefined && { paramsKey }),
    };
  } catch (error) {
    if (!(error instanceof BrokenItemError)) throw error;
    logger.error({ code: error.code, reason: error.message }, 'a record of the stream was passed over');
    return undefined;
  }
}

/** Numbers to add, by the item of the stats and the name of the count in it. */
type Additions = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Numbers that add up, but for times, of which the latest counts. */
function createCounterChanges() {
  const counts = new Map<string, Map<string, number>>();
  function add(place: string, name: string, by: number): void {
    const names = counts.get(place) ?? new Map<string, number>();
    const before = names.get(name) ?? 0;
    counts.set(place, names.set(name, name === relayerLetters.seen ? Math.max(before, by) : before + by));
  }
  return { counts, add };
}

/**
 * Counts what a batch of the stream has moved. It reports each move with what was before it, so that claims that lapse and go to another
 * relayer, removals and expiries are counted as what they are.
 *
 * @see docs/specification.md ADMIN-8
 */
function countMoves(changes: readonly RequestChange[]): Additions {
  const { counts, add } = createCounterChanges();

  function addActivity(kind: keyof typeof letters, atMs: number): void {
    add(statsKeys.minutes(atMs), `${Math.floor((atMs % MINUTES_MS) / MINUTE_MS)}${letters[kind]}`, 1);
    add(statsKeys.hours(atMs), `${Math.floor((atMs % DAY_MS) / HOUR_MS)}${letters[kind]}`, 1);
  }
  function addRelayer(address: string | undefined, name: string, by: number): void {
    if (address !== undefined) add(statsKeys.relayer(address), name, by);
  }
  function countEnd({ status, claimedBy, claimedAt, updatedAt }: RequestRecord): void {
    if (status !== 'success' && status !== 'failed') return;
    addActivity(status, updatedAt);
    addRelayer(claimedBy, letters[status], 1);
    addRelayer(claimedBy, `h${bucketOf(updatedAt - (claimedAt ?? updatedAt))}`, 1);
    addRelayer(claimedBy, relayerLetters.seen, updatedAt);
  }

  for (const { before, after, isMove } of changes) {
    if (!isMove) continue;
    if (before?.status !== after?.status) {
      if (before !== undefined) add(statsKeys.chain(before.chainName), before.status, -1);
      if (after !== undefined) add(statsKeys.chain(after.chainName), after.status, 1);
    }
    if (before?.status === 'processing') addRelayer(before.claimedBy, relayerLetters.open, -1);
    if (after === undefined) continue;
    if (before === undefined) addActivity('posts', after.createdAt);
    if (after.status === 'processing') {
      addActivity('claims', after.updatedAt);
      addRelayer(after.claimedBy, relayerLetters.open, 1);
      addRelayer(after.claimedBy, relayerLetters.seen, after.updatedAt);
    } else countEnd(after);
  }
  return counts;
}

/** When an item of activity is not read any more, in seconds since the epoch; undefined for the others. */
function expiryOf(place: string): number | undefined {
  const [kind, part] = place.split('#');
  if (kind === 'minutes') return (Number(part) * MINUTES_MS + 3 * HOUR_MS) / 1000;
  return kind === 'hours' ? (Number(part) * DAY_MS + (KEPT_HOURS + 48) * HOUR_MS) / 1000 : undefined;
}

const keyOf = (place: string) => ({ lane: STATS_LANE, place });

interface Addition {
  readonly place: string;
  readonly counts: ReadonlyMap<string, number>;
  /** Names what is added: it is added once, if nothing else was since. */
  readonly batch: string;
}

/** Adds to the counts of one item. */
async function addCounts(deliveries: Table, { place, counts, batch }: Addition): Promise<void> {
  const { seen } = relayerLetters;
  const added = [...counts].filter(([name, by]) => name !== seen && by !== 0);
  await update(deliveries, {
    key: keyOf(place),
    set: {
      batch,
      [TTL_ATTRIBUTE]: expiryOf(place),
      ...(counts.has(seen) && { [seen]: counts.get(seen) }),
    },
    add: Object.fromEntries(added),
    condition: 'attribute_not_exists(#batch) OR #batch <> :batch',
  });
}

/** Names of chains come from strangers: beyond a number they are counted together. */
function createChainBound(deliveries: Table) {
  let known: Set<string> | undefined;
  return async function bound(additions: Additions): Promise<Additions> {
    known ??= new Set((await readKind(deliveries, 'chain')).keys());
    const { counts, add } = createCounterChanges();
    for (const [place, names] of additions) {
      const isApart = !place.startsWith('chain#') || known.has(place) || known.size < MAX_COUNTED_CHAINS;
      if (isApart && place.startsWith('chain#')) known.add(place);
      for (const [name, by] of names) add(isApart ? place : OTHERS, name, by);
    }
    return counts;
  };
}

interface RecorderContext {
  readonly requests: Table;
  /** Where the stats are kept. */
  readonly deliveries: Table;
  readonly logger: Logger;
}

/** Counts what the stream reports. */
export interface StatsRecorder {
  /** Takes a batch; one that comes again is counted once. @throws DependencyUnavailableError: it is to come again */
  record(batch: readonly StreamRecord[]): Promise<void>;
}

/** Writes of one batch under way at once. */
const MAX_WRITES = 32;

/** Makes what counts moves as the stream reports them, and removes params whose request is gone. */
export function createStatsRecorder({ requests, deliveries, logger }: RecorderContext): StatsRecorder {
  const bound = createChainBound(deliveries);
  const writes = createSemaphore(MAX_WRITES);
  return {
    async record(records) {
      const changes = records.flatMap((one) => readChange(one, logger) ?? []);
      const gone = changes.flatMap(({ after, paramsKey }) => (after === undefined && paramsKey ? [paramsKey] : []));
      const additions = await bound(countMoves(changes));
      const batch = `${records[0]?.dynamodb?.SequenceNumber} ${records.at(-1)?.dynamodb?.SequenceNumber}`;
      await Promise.all([
        ...[...additions].map(([place, counts]) => writes.run(() => addCounts(deliveries, { place, counts, batch }))),
        ...gone.map((paramsKey) => writes.run(() => removeParams(requests, paramsKey))),
      ]);
    },
  };
}

/** Removes params with an item of their own. */
export async function removeParams(requests: Table, paramsKey: string): Promise<void> {
  await remove(requests, { requestId: paramsKey });
}

/** Notes when a relayer has called. */
export async function recordSeen(deliveries: Table, address: string, at: number): Promise<void> {
  await update(deliveries, { key: keyOf(statsKeys.relayer(address)), set: { [relayerLetters.seen]: at } });
}

/** Counts claims that a relayer has lost to rivals: they move nothing, and the stream does not report them. */
export function createConflictCounter(deliveries: Table) {
  let waiting = createCounterChanges();
  let writing: Promise<void> | undefined;
  async function write(): Promise<void> {
    const { counts } = waiting;
    waiting = createCounterChanges();
    for (const [place, names] of counts) {
      await addCounts(deliveries, { place, counts: names, batch: randomUUID() }).catch(() => {
        for (const [name, by] of names) waiting.add(place, name, by);
      });
    }
  }
  return {
    add: (relayer: string) => waiting.add(statsKeys.relayer(relayer), relayerLetters.conflicts, 1),
    async flush(): Promise<void> {
      await writing;
      writing ??= write().finally(() => {
        writing = undefined;
      });
      await writing;
    },
  };
}
