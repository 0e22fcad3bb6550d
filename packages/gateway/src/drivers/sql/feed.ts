import { InvalidCursorError } from '../../ports/errors.ts';
import type { FeedPage, FeedQuery } from '../../ports/requestStore.ts';
import type { Row } from './sqlWrite.ts';

/** Numbers of the last moves that were given: of what became pending, and of claims that have lapsed; and of the last one of all then. */
interface FeedPosition {
  readonly pending: number;
  readonly lapsed: number;
  readonly sequence: number;
}

/** A record of a feed; `value` is what its store makes of it. */
export interface FeedRow<T> {
  readonly movedSeq: number;
  /** Of its params. */
  readonly bytes: number;
  readonly claimedAt: number;
  readonly value: T;
}

/** Where a feed begins that is asked for what comes from here on. */
export interface FeedStart {
  /** Number of the last move. */
  readonly sequence: number;
  /** Number of the first claim that holds; absent: none does. */
  readonly firstClaim?: number | undefined;
}

/** Reads the position of a page; undefined: it begins with what comes from here on. @throws InvalidCursorError */
export function readFeedPosition({ after, from }: FeedQuery): FeedPosition | undefined {
  if (after === undefined) return from === 'oldest' ? { pending: 0, lapsed: 0, sequence: 0 } : undefined;
  const numbers = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(after)?.slice(1).map(Number);
  if (numbers === undefined) throw new InvalidCursorError();
  // The expression has three groups.
  const [pending, lapsed, sequence] = numbers as [number, number, number];
  return { pending, lapsed, sequence };
}

/** Names of the numbers that a store keeps beside its records: that of the last move, and the two ends of the newest gap. */
export const NUMBERS = ['sequence', 'left', 'entered'] as const;
export type MoveNumber = (typeof NUMBERS)[number];
type MoveNumbers = Readonly<Record<MoveNumber, number>>;

/** Reads rows of `name` and `value`; what is not there yet is 0. */
export function numbersOf(rows: readonly Row[]): MoveNumbers {
  const values = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  const [sequence, left, entered] = NUMBERS.map((name) => values.get(name) ?? 0) as [number, number, number];
  return { sequence, left, entered };
}

/** Moves a millisecond: more than any process makes for long, and few enough for 2^53. */
const MOVES_A_MS = 10;

/**
 * Where a process that begins to write numbers moves from: beyond whatever was numbered before, also by processes of which nothing is left
 * because an older copy of the store was put back. So what it stores lies behind no position that was given then, and such a position
 * lies in the gap.
 *
 * @param sequence - number of the last move that the store knows
 * @param now - milliseconds since the epoch
 */
export const enterAt = (sequence: number, now: number) => Math.max(sequence, now * MOVES_A_MS);

/**
 * Refuses a position that the store never gave: it was put back to an older copy since, in which what was given, claimed or reported before may
 * be pending again.
 *
 * @throws InvalidCursorError
 */
export function assertGiven(position: FeedPosition, { sequence, left, entered }: MoveNumbers): void {
  const isGiven = (number: number) => number <= left || (number >= entered && number <= sequence);
  if (!Object.values(position).every(isGiven)) throw new InvalidCursorError();
}

/** Begins before the first claim that holds, so that all that lapse from here on are given. */
export const startFeed = ({ sequence, firstClaim = sequence + 1 }: FeedStart): FeedPosition => {
  return { pending: sequence, lapsed: firstClaim - 1, sequence };
};

/**
 * Fills a page of a chain's feed: first the claims that have lapsed, since those have waited longest, then what has become pending. Moves
 * are numbered in the order of their commits, so that none can appear before a position that was read.
 *
 * @param feed - rows behind the position, by the numbers of their moves, of which no more are taken than the page holds; and the number of
 * the last move
 */
export function fillFeed<T>(
  { limit, maxParamsBytes, leaseExpiredAt = -1 }: FeedQuery,
  { pending, lapsed }: FeedPosition,
  feed: { readonly claims: Iterable<FeedRow<T>>; readonly fresh: Iterable<FeedRow<T>>; readonly sequence: number },
): Omit<FeedPage, 'items'> & { readonly values: T[] } {
  const values: T[] = [];
  const position = { pending, lapsed };
  let bytes = 0;
  function add(row: FeedRow<T>, part: keyof typeof position): boolean {
    bytes += row.bytes;
    if (values.length === limit || (values.length > 0 && bytes > maxParamsBytes)) return false;
    values.push(row.value);
    position[part] = row.movedSeq;
    return true;
  }
  let nextClaimAt: number | undefined;
  for (const row of feed.claims) {
    // Claims lapse in their order, up to the time that lies between a clock and a commit.
    if (row.claimedAt > leaseExpiredAt) nextClaimAt = row.claimedAt;
    if (nextClaimAt !== undefined || !add(row, 'lapsed')) break;
  }
  for (const row of feed.fresh) if (!add(row, 'pending')) break;
  const next = `${position.pending}-${position.lapsed}-${feed.sequence}`;
  return { values, next, ...(nextClaimAt !== undefined && { nextClaimAt }) };
}
