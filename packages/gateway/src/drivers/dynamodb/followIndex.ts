import { crc32 } from 'node:zlib';
import { InvalidCursorError } from '../../ports/errors.ts';
import { endOf, POSITION_BYTES, type Position, timeOf } from './position.ts';
import type { RequestTable } from './record.ts';
import { createIndexWalk, type IndexKey, type Lane } from './walk.ts';

/** First byte of a cursor; grows with the format. */
const VERSION = 1;
/** An entry that was given: two bytes of time after `known`, three that distinguish it from others. */
const GIVEN_BYTES = 5;
const TIME_UNIT_MS = 16;
const MOST_UNITS = 0xffff;

/** An entry of an index that was given a short while ago. */
interface Given {
  /** Milliseconds since the epoch; never before the entry's own time. */
  readonly time: number;
  readonly mark: number;
}

/**
 * How far an index was read. It follows its table late and not in order, so an entry may come to lie behind others that were given.
 *
 *     nothing ──── passed ──── known ──── … the end
 *        never looked   looked at    given, unless it came
 *        at again       once more    meanwhile: `given` shows it
 */
interface Track {
  /** All up to here was given, and had the time to arrive. */
  readonly passed: Position;
  /** After this place `given` knows all that was given. */
  readonly known: Position;
  readonly given: readonly Given[];
}

/** A place in the feed of a chain. */
export interface FeedCursor {
  readonly pending: Track;
  readonly released: Track;
  /** Claims that lapsed were given up to this one, by `claimedAt`. */
  readonly lapsed: Position;
}

/** Most entries that a cursor remembers of each index; with them it is 748 characters in the end, of 756 that a client may send back. */
export const MOST_GIVEN = { pending: 64, released: 16 } as const;

/** Distinguishes an entry from the others in few bits. */
const markOf = (position: Position): number => crc32(position) & 0xffffff;

function writeGiven({ known, given }: Track): Buffer {
  const bytes = Buffer.alloc(given.length * GIVEN_BYTES);
  for (const [i, { time, mark }] of given.entries()) {
    const units = Math.min(MOST_UNITS, Math.max(0, Math.ceil((time - timeOf(known)) / TIME_UNIT_MS)));
    bytes.writeUInt16BE(units, i * GIVEN_BYTES);
    bytes.writeUIntBE(mark, i * GIVEN_BYTES + 2, 3);
  }
  return bytes;
}

function readGiven(known: Position, bytes: Buffer): Given[] {
  return Array.from({ length: bytes.length / GIVEN_BYTES }, (_, i) => ({
    time: timeOf(known) + bytes.readUInt16BE(i * GIVEN_BYTES) * TIME_UNIT_MS,
    mark: bytes.readUIntBE(i * GIVEN_BYTES + 2, 3),
  }));
}

/** Writes a place as text. @returns base64url */
export function writeFeedCursor({ pending, released, lapsed }: FeedCursor): string {
  const positions = [pending.passed, pending.known, released.passed, released.known, lapsed];
  const head = [VERSION, pending.given.length];
  const parts = [Buffer.from(head), Buffer.from(positions.join(''), 'hex'), writeGiven(pending), writeGiven(released)];
  return Buffer.concat(parts).toString('base64url');
}

/** Reads it back. @throws InvalidCursorError for any other text */
export function readFeedCursor(text: string): FeedCursor {
  const all = Buffer.from(text, 'base64url');
  const [version = 0, count = 0] = all;
  const positionAt = (i: number): Position => all.toString('hex', 2 + i * POSITION_BYTES, 2 + (i + 1) * POSITION_BYTES);
  const given = all.subarray(2 + 5 * POSITION_BYTES);
  const isWhole = all.length >= 2 + 5 * POSITION_BYTES && given.length % GIVEN_BYTES === 0;
  if (version !== VERSION || !isWhole || count * GIVEN_BYTES > given.length || all.toString('base64url') !== text) {
    throw new InvalidCursorError();
  }
  const trackOf = (i: number, bytes: Buffer): Track => {
    const known = positionAt(i + 1);
    return { passed: positionAt(i), known, given: readGiven(known, bytes) };
  };
  return {
    pending: trackOf(0, given.subarray(0, count * GIVEN_BYTES)),
    released: trackOf(2, given.subarray(count * GIVEN_BYTES)),
    lapsed: positionAt(4),
  };
}

/**
 * The longest that an entry is expected on its way into an index, in milliseconds: seven tries of its write, differences between clocks,
 * and the index itself, whose table is throttled when it falls behind.
 */
const LONGEST_WAY_MS = 60_000;

/** The lanes of one chain to follow, and how many entries a cursor remembers. */
interface FollowPlan {
  readonly lanes: readonly Lane[];
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
  /** Makes the track behind what was used. @param used - how many of each part, from its beginning */
  trackBehind(used: { readonly again: number; readonly fresh: number }): Track;
}

/** The later place. */
const later = (a: Position, b: Position): Position => (a > b ? a : b);

async function walkFrom(table: RequestTable, plan: FollowPlan, from: Position, count: number) {
  const walk = createIndexWalk(table, { lanes: plan.lanes, order: 'asc', after: from });
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

/** Drops the earliest of what is remembered if it is too much: what lies there will be looked at again. */
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
 */
export async function followIndex(table: RequestTable, track: Track, plan: FollowPlan): Promise<Followed> {
  const { mostGiven, limit, now } = plan;
  const stableTime = now - LONGEST_WAY_MS;
  const [again, ahead] = await Promise.all([
    lookAgain(table, track, plan),
    walkFrom(table, plan, track.known, limit + track.given.length),
  ]);
  const marks = new Set(track.given.map(({ mark }) => mark));
  const isNew = ({ position }: IndexKey) => !marks.has(markOf(position));
  const fresh = ahead.keys.filter(isNew);

  /** How far everything was seen of what has had its time to arrive. */
  function stablePlace(firstLeft: IndexKey | undefined): Position {
    const last = ahead.keys.at(-1);
    if (firstLeft !== undefined) return ahead.keys[ahead.keys.indexOf(firstLeft) - 1]?.position ?? track.known;
    return ahead.isAtEnd || last === undefined ? endOf(stableTime) : last.position;
  }

  return {
    again: again.keys,
    fresh,
    trackBehind(used) {
      const firstLeft = fresh[used.fresh];
      const isEmptyAndOpen = ahead.keys.length === 0 && !ahead.isAtEnd;
      const reached = isEmptyAndOpen ? track.known : stablePlace(firstLeft);
      const stable = [endOf(stableTime), later(reached, track.known)].sort()[0] ?? track.known;
      const known = later(track.known, stable);
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
