import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol';
import { type Item, queryPage, readBytes, readText } from './items.ts';
import { laneBytes, type Position, type PositionBounds, rangeBehind, readPosition } from './position.ts';
import { type RequestTable, shardKeys } from './record.ts';
import { OTHER_CHAINS } from './tableRegister.ts';
import { type IndexDescription, requestIndexes } from './tables.ts';

/** Rounds of queries of one page: a page that finds little is short, not slow. */
const MAX_ROUNDS = 6;
/** Entries that one query looks at if it filters: about 130 kB, which is 16 read units. */
const FILTERED_ENTRIES = 1000;

/** A part of an index that lies in order: a partition, or what one chain has of it. */
export interface Lane {
  readonly index: IndexDescription;
  readonly partition: string | Uint8Array;
  /** The prefix of all its sort keys. */
  readonly prefix: Uint8Array;
  /** The only chain that is wanted, if others stand there too. */
  readonly chainName?: string;
  /** Lanes of a later turn are read after those of an earlier one. */
  readonly turn: number;
}

/** Names a whole partition as a lane. */
export const laneOf = (index: IndexDescription, partition: string | Uint8Array): Lane => ({
  ...{ index, partition, prefix: new Uint8Array(), turn: 0 },
});

/**
 * Names the lanes of the index by status. They are read in the order of a life, so that a request that moves on meanwhile is in one of them.
 *
 * @param status - absent: all of them
 * @param chainName - absent: all that the table's register names
 */
export async function statusLanes(
  { register, shards }: RequestTable,
  { status, chainName }: { readonly status?: RequestStatus | undefined; readonly chainName?: string | undefined },
): Promise<Lane[]> {
  const chains = await register.lanesOf(chainName);
  const statuses = status === undefined ? REQUEST_STATUSES : [status];
  return statuses.flatMap((one, turn) =>
    shardKeys(one, shards).flatMap((partition) =>
      chains.map((lane) => ({
        ...{ index: requestIndexes.status, partition, prefix: laneBytes(lane), turn },
        ...(lane === OTHER_CHAINS && chainName !== undefined && { chainName }),
      })),
    ),
  );
}

/** An entry of an index. */
export interface IndexKey {
  readonly requestId: string;
  readonly position: Position;
}

/** The lanes to walk, merged in order. */
interface WalkPlan {
  readonly lanes: readonly Lane[];
  readonly order: 'asc' | 'desc';
  /** Where to go on; absent: at the beginning. */
  readonly after?: Position | undefined;
  /** Absent: all of them. */
  readonly bounds?: PositionBounds;
}

export interface IndexWalk {
  /** The next keys in order; fewer, or none, at the end and when the walk has looked at enough. */
  next(count: number): Promise<readonly IndexKey[]>;
  /** Gives the last keys back, in order. */
  giveBack(keys: readonly IndexKey[]): void;
  /** Whether there may be more keys; asks if it does not know. */
  hasMore(): Promise<boolean>;
  /** How far all lanes were taken; undefined: not at all. */
  position(): Position | undefined;
}

/** A lane on its way. */
interface Progress {
  readonly lane: Lane;
  readonly keys: IndexKey[];
  /** All up to here has been looked at. */
  scanned: Position | undefined;
  ended: boolean;
}

/** Reads on in one lane. */
async function fetchKeys(
  table: RequestTable,
  { order, bounds }: WalkPlan,
  progress: Progress,
  count: number,
): Promise<void> {
  const { index, partition, prefix, chainName } = progress.lane;
  const range = rangeBehind(prefix, progress.scanned, order, bounds);
  if (range === undefined) {
    progress.ended = true;
    return;
  }
  const [lane, sort] = [index.partitionKey.name, index.sortKey.name];
  const { items, next } = await queryPage(table, {
    ...{ index: index.name, keys: `#${lane} = :lane AND #${sort} BETWEEN :from AND :to`, order },
    ...(chainName !== undefined && { filter: '#chainName = :chainName' }),
    values: { ':lane': partition, ':from': range.from, ':to': range.to, ':chainName': chainName },
    limit: chainName === undefined ? count : FILTERED_ENTRIES,
  });
  const positionIn = (item: Item) => readPosition(readBytes(item, sort));
  progress.keys.push(...items.map((item) => ({ requestId: readText(item, 'requestId'), position: positionIn(item) })));
  progress.ended = next === undefined;
  progress.scanned = next === undefined ? progress.keys.at(-1)?.position : positionIn(next);
}

/** How many keys to ask of each shard: requests spread evenly, so twice the share is nearly always enough. */
const shareOf = (count: number, shards: number) => Math.min(count + 1, Math.ceil((count * 2) / shards) + 4);

/**
 * Walks lanes at once and merges their keys in order. How far it came is one position, so that a request that moves from one lane to
 * another is neither given twice nor left out.
 */
export function createIndexWalk(table: RequestTable, plan: WalkPlan): IndexWalk {
  const { lanes, order, after } = plan;
  const all = lanes.map((lane): Progress => ({ lane, keys: [], scanned: after, ended: false }));
  const comes = order === 'asc' ? (a: Position, b: Position) => a < b : (a: Position, b: Position) => a > b;
  const turns = [...Map.groupBy(all, ({ lane }) => lane.turn).values()];
  // Of all statuses most have the one: there twice the share is too little.
  const shards = turns.length > 1 || lanes.length < table.shards ? 1 : table.shards;
  const given: IndexKey[] = [];
  const returned: IndexKey[] = [];
  let rounds = 0;

  const openLanes = (some: readonly Progress[]) => some.filter(({ keys, ended }) => keys.length === 0 && !ended);

  /** Reads on wherever nothing is at hand. */
  async function readOn(count: number): Promise<void> {
    rounds++;
    const share = shareOf(count, shards);
    for (const turn of turns) {
      await Promise.all(openLanes(turn).map((progress) => fetchKeys(table, plan, progress, share)));
    }
  }

  /** The lane that has the next key at hand, as far as is known. */
  function findFirst(): Progress | undefined {
    return all.reduce<Progress | undefined>((first, progress) => {
      const [key, best] = [progress.keys[0], first?.keys[0]];
      return key !== undefined && (best === undefined || comes(key.position, best.position)) ? progress : first;
    }, undefined);
  }

  /** Takes the next key that is certain to be the next: no lane that may hold an earlier one is still to be read. */
  function takeNext(): IndexKey | 'unknown' | 'none' {
    const first = findFirst();
    const candidate = first?.keys[0];
    const open = openLanes(all);
    if (candidate === undefined) return open.length === 0 ? 'none' : 'unknown';
    const isCertain = open.every(({ scanned }) => scanned !== undefined && !comes(scanned, candidate.position));
    if (!isCertain) return 'unknown';
    first?.keys.shift();
    return candidate;
  }

  return {
    async next(count) {
      const keys = returned.splice(0, count);
      given.push(...keys);
      while (keys.length < count) {
        const key = takeNext();
        if (key === 'none') break;
        if (key === 'unknown') {
          if (rounds === MAX_ROUNDS) break;
          await readOn(count - keys.length);
        } else if (key.position !== given.at(-1)?.position) {
          // One that has moved meanwhile may show in two lanes.
          keys.push(key);
          given.push(key);
        }
      }
      return keys;
    },
    giveBack(keys) {
      given.length -= keys.length;
      returned.unshift(...keys);
    },
    async hasMore() {
      while (returned.length === 0 && findFirst() === undefined) {
        if (all.every(({ ended }) => ended)) return false;
        if (rounds === MAX_ROUNDS) return true;
        await readOn(1);
      }
      return true;
    },
    position() {
      const last = given.at(-1)?.position ?? after;
      if (returned.length > 0) return last;
      // Entries passed over are not read again: up to where the lane that was read least far has come.
      const places = openLanes(all).map(({ scanned }) => scanned);
      const known = places.filter((place) => place !== undefined).sort((a, b) => (comes(a, b) ? -1 : 1));
      const reached = known.length === places.length ? known[0] : undefined;
      const next = findFirst()?.keys[0]?.position;
      const isBeyond = reached !== undefined && (last === undefined || comes(last, reached));
      return isBeyond && (next === undefined || comes(reached, next)) ? reached : last;
    },
  };
}
