import { QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { askStore } from './askStore.ts';
import { bytes, type Item, readBytes, readText, text } from './attributes.ts';
import { type Position, positionBytes, readPosition } from './position.ts';
import type { RequestTable } from './requestItem.ts';
import type { IndexDescription } from './tables.ts';

/** Rounds of queries of one page: a page that finds little is short, not slow. */
const MAX_ROUNDS = 6;
/** Entries that one query looks at where it filters: about 130 kB, which is 16 read units. */
const FILTERED_ENTRIES = 1000;

/** An entry of the index. */
export interface IndexKey {
  readonly requestId: string;
  readonly partition: number;
  readonly position: Position;
  /** Where a walk that has not taken this key yet begins. */
  readonly before: Position | undefined;
}

/** What to walk: some partitions of an index, merged in order. */
export interface WalkPlan {
  readonly index: IndexDescription;
  readonly partitions: readonly string[];
  readonly order: 'asc' | 'desc';
  /** Where to go on, one a partition; undefined: at its start. */
  readonly after: readonly (Position | undefined)[];
  /** A chain that the index itself can tell; the others are not even read. */
  readonly chainName?: string;
}

export interface IndexWalk {
  /** The next keys in order; fewer, or none, at the end and where the walk has looked at enough. */
  next(count: number): Promise<readonly IndexKey[]>;
  /** Gives the last keys back, in order. */
  giveBack(keys: readonly IndexKey[]): void;
  /** Whether there may be more keys; asks where it does not know. */
  hasMore(): Promise<boolean>;
  /** How far each partition was taken. */
  positions(): (Position | undefined)[];
}

/** One partition on its way. */
interface Lane {
  readonly key: string;
  readonly number: number;
  keys: IndexKey[];
  /** All up to here has been looked at. */
  scanned: Position | undefined;
  ended: boolean;
}

function queryInput(table: RequestTable, plan: WalkPlan, lane: Lane, count: number): QueryCommandInput {
  const { index, order, chainName } = plan;
  const comparison = order === 'asc' ? '>' : '<';
  const from = lane.scanned;
  return {
    TableName: table.name,
    IndexName: index.name,
    KeyConditionExpression: `#lane = :lane${from === undefined ? '' : ` AND #position ${comparison} :from`}`,
    ...(chainName !== undefined && { FilterExpression: 'chainName = :chainName' }),
    ExpressionAttributeNames: {
      '#lane': index.partitionKey.name,
      ...(from !== undefined && { '#position': index.sortKey.name }),
    },
    ExpressionAttributeValues: {
      ':lane': text(lane.key),
      ...(from !== undefined && { ':from': bytes(positionBytes(from)) }),
      ...(chainName !== undefined && { ':chainName': text(chainName) }),
    },
    ScanIndexForward: order === 'asc',
    Limit: chainName === undefined ? count : FILTERED_ENTRIES,
  };
}

const positionIn = (item: Item, { sortKey }: IndexDescription) => readPosition(readBytes(item, sortKey.name));

/** Reads on in one partition. */
async function fetchKeys(table: RequestTable, plan: WalkPlan, lane: Lane, count: number): Promise<void> {
  const output = await askStore(() => table.client.send(new QueryCommand(queryInput(table, plan, lane, count))));
  let before = lane.scanned;
  for (const item of output.Items ?? []) {
    const position = positionIn(item, plan.index);
    lane.keys.push({ requestId: readText(item, 'requestId'), partition: lane.number, position, before });
    before = position;
  }
  const last = output.LastEvaluatedKey;
  lane.scanned = last === undefined ? before : positionIn(last, plan.index);
  lane.ended = last === undefined;
}

/** Takes the next key that is certain to be the next: no partition that may hold an earlier one is still to be read. */
function takeNext(lanes: readonly Lane[], comes: (a: Position, b: Position) => boolean): IndexKey | 'unknown' | 'none' {
  let first: Lane | undefined;
  for (const lane of lanes) {
    const key = lane.keys[0];
    const best = first?.keys[0];
    if (key !== undefined && (best === undefined || comes(key.position, best.position))) first = lane;
  }
  const candidate = first?.keys[0];
  const open = lanes.filter((lane) => lane.keys.length === 0 && !lane.ended);
  if (first === undefined || candidate === undefined) return open.length === 0 ? 'none' : 'unknown';
  const isCertain = open.every(({ scanned }) => scanned !== undefined && !comes(scanned, candidate.position));
  if (!isCertain) return 'unknown';
  first.keys.shift();
  return candidate;
}

/** How many keys to ask of each partition: requests spread evenly, so twice the share is nearly always enough. */
const shareOf = (count: number, lanes: number) => Math.min(count + 1, Math.ceil((count * 2) / lanes) + 4);

/**
 * Walks some partitions of an index at once and merges their keys in order.
 *
 * Each partition has its own position, so that an entry which reaches the index late is found by the next page, although
 * others were faster.
 */
export function createIndexWalk(table: RequestTable, plan: WalkPlan): IndexWalk {
  const lanes = plan.partitions.map((key, i): Lane => {
    return { key, number: i, keys: [], scanned: plan.after[i], ended: false };
  });
  const comes = plan.order === 'asc' ? (a: Position, b: Position) => a < b : (a: Position, b: Position) => a > b;
  let rounds = 0;

  /** Reads on wherever nothing is at hand. */
  async function readOn(count: number): Promise<void> {
    rounds++;
    const open = lanes.filter((lane) => lane.keys.length === 0 && !lane.ended);
    await Promise.all(open.map((lane) => fetchKeys(table, plan, lane, shareOf(count, lanes.length))));
  }

  return {
    async next(count) {
      const keys: IndexKey[] = [];
      while (keys.length < count) {
        const key = takeNext(lanes, comes);
        if (key === 'none') break;
        if (key !== 'unknown') keys.push(key);
        else if (rounds === MAX_ROUNDS) break;
        else await readOn(count - keys.length);
      }
      return keys;
    },
    giveBack(keys) {
      for (const key of keys.toReversed()) lanes[key.partition]?.keys.unshift(key);
    },
    async hasMore() {
      while (lanes.every(({ keys }) => keys.length === 0)) {
        if (lanes.every(({ ended }) => ended)) return false;
        if (rounds === MAX_ROUNDS) return true;
        await readOn(1);
      }
      return true;
    },
    positions: () => lanes.map(({ keys, scanned }) => (keys[0] === undefined ? scanned : keys[0].before)),
  };
}
