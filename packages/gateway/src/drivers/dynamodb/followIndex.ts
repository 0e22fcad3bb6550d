import { createIndexWalk, type IndexKey, type WalkPlan } from './createIndexWalk.ts';
import { endOf, type Given, markOf, type Track, timeOf } from './feedCursor.ts';
import type { Position } from './position.ts';
import type { RequestTable } from './requestTable.ts';

/**
 * The longest that an entry is expected on its way into an index, in milliseconds: seven tries of its write, differences between clocks,
 * and the index itself, whose table is throttled when it falls behind.
 */
const LONGEST_WAY_MS = 60_000;

/** What is followed: the partitions of an index that hold one chain, and how many entries a cursor remembers. */
export interface FollowPlan extends Pick<WalkPlan, 'index' | 'partitions'> {
  readonly mostGiven: number;
  /** Most entries of this page. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** New entries of an index, in two parts, each in order. */
export interface Followed {
  /** Entries of the first part come from places that are looked at for the second time. */
  readonly again: readonly IndexKey[];
  readonly fresh: readonly IndexKey[];
  /**
   * Makes the track behind what was used.
   *
   * @param used - how many of each part, from its beginning
   */
  trackBehind(used: { readonly again: number; readonly fresh: number }): Track;
}

/** The later place. */
const later = (a: Position, b: Position): Position => (a > b ? a : b);

async function walkFrom(table: RequestTable, plan: FollowPlan, from: Position, count: number) {
  const { index, partitions } = plan;
  const walk = createIndexWalk(table, { index, partitions, order: 'asc', after: partitions.map(() => from) });
  const keys = await walk.next(count);
  return { keys, isAtEnd: keys.length < count && !(await walk.hasMore()) };
}

/** Looks once more at what was given without being remembered, once it has had its time to arrive. */
async function lookAgain(table: RequestTable, track: Track, plan: FollowPlan) {
  const end = [track.known, endOf(plan.now - LONGEST_WAY_MS)].sort()[0] ?? track.known;
  if (track.passed >= end) return { keys: [], passed: track.passed };
  const { keys, isAtEnd } = await walkFrom(table, plan, track.passed, plan.limit);
  const within = keys.filter(({ position }) => position <= end);
  const isThrough = isAtEnd || within.length < keys.length;
  return { keys: within, passed: isThrough ? end : (within.at(-1)?.position ?? track.passed) };
}

/** Drops the earliest of what is remembered where it is too much: what lies there will be looked at again. */
function remember(track: Track, most: number): Track {
  let { known } = track;
  let given = track.given.filter(({ time }) => time > timeOf(known));
  while (given.length > most) {
    const earliest = Math.min(...given.map(({ time }) => time));
    known = later(known, endOf(earliest));
    given = given.filter(({ time }) => time > earliest);
  }
  return { passed: track.passed, known, given };
}

/**
 * Finds entries of an index that were not given before a place: those behind it, and those that came late. What is given once and
 * still there when everything around it has arrived may be given a second time, if more came at once than a cursor remembers; never is
 * an entry skipped.
 *
 * @throws DependencyUnavailableError
 */
export async function followIndex(table: RequestTable, track: Track, plan: FollowPlan): Promise<Followed> {
  const { mostGiven, limit, now } = plan;
  const settledTime = now - LONGEST_WAY_MS;
  const [again, ahead] = await Promise.all([
    lookAgain(table, track, plan),
    walkFrom(table, plan, track.known, limit + track.given.length),
  ]);
  const marks = new Set(track.given.map(({ mark }) => mark));
  const isNew = ({ position }: IndexKey) => !marks.has(markOf(position));
  const fresh = ahead.keys.filter(isNew);

  /** How far everything was seen of what has had its time to arrive. */
  function settledPlace(firstLeft: IndexKey | undefined): Position {
    const last = ahead.keys.at(-1);
    if (firstLeft !== undefined) return ahead.keys[ahead.keys.indexOf(firstLeft) - 1]?.position ?? track.known;
    return ahead.isAtEnd || last === undefined ? endOf(settledTime) : last.position;
  }

  return {
    again: again.keys,
    fresh,
    trackBehind(used) {
      const firstLeft = fresh[used.fresh];
      const isEmptyAndOpen = ahead.keys.length === 0 && !ahead.isAtEnd;
      const reached = isEmptyAndOpen ? track.known : settledPlace(firstLeft);
      const settled = [endOf(settledTime), later(reached, track.known)].sort()[0] ?? track.known;
      const known = later(track.known, settled);
      const isThrough = used.again === again.keys.length;
      const passed = isThrough ? again.passed : (again.keys[used.again - 1]?.position ?? track.passed);
      // Nothing is left to be looked at again but what this page has read for the first time.
      const isCaughtUp = isThrough && passed === track.known;
      const given: Given[] = [
        ...track.given,
        ...fresh.slice(0, used.fresh).map(({ position }) => ({ time: timeOf(position), mark: markOf(position) })),
      ];
      return remember({ passed: isCaughtUp ? known : passed, known, given }, mostGiven);
    },
  };
}
