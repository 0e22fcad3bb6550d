import { InvalidCursorError } from '../../ports/errors.ts';
import type { FeedPage, FeedQuery } from '../../ports/requestStore.ts';

/** Numbers of the last moves that were given: of what became pending, and of claims that have lapsed. */
interface FeedPosition {
  readonly pending: number;
  readonly lapsed: number;
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
  if (after === undefined) return from === 'oldest' ? { pending: 0, lapsed: 0 } : undefined;
  const [, pending, lapsed] = /^(\d{1,15})-(\d{1,15})$/.exec(after) ?? [];
  if (pending === undefined || lapsed === undefined) throw new InvalidCursorError();
  return { pending: Number(pending), lapsed: Number(lapsed) };
}

/**
 * Refuses a position that the store has not come to: it was put back to an older copy since, and what it stores from here on would stay behind
 * the position.
 *
 * @param sequence - number of the last move
 * @throws InvalidCursorError
 */
export function assertReached({ pending, lapsed }: FeedPosition, sequence: number): void {
  if (Math.max(pending, lapsed) > sequence) throw new InvalidCursorError();
}

/** Begins before the first claim that holds, so that all that lapse from here on are given. */
export const startFeed = ({ sequence, firstClaim = sequence + 1 }: FeedStart): FeedPosition => {
  return { pending: sequence, lapsed: firstClaim - 1 };
};

/**
 * Fills a page of a chain's feed: first the claims that have lapsed, since those have waited longest, then what has become pending. Moves
 * are numbered in the order of their commits, so that none can appear before a position that was read.
 *
 * @param rows - behind the position, by the numbers of their moves; no more is taken of them than the page holds
 */
export function fillFeed<T>(
  { limit, maxParamsBytes, leaseExpiredAt = -1 }: FeedQuery,
  { pending, lapsed }: FeedPosition,
  rows: { readonly claims: Iterable<FeedRow<T>>; readonly fresh: Iterable<FeedRow<T>> },
): Omit<FeedPage, 'items'> & { readonly values: T[] } {
  const values: T[] = [];
  const position = { pending, lapsed };
  let bytes = 0;
  function add(row: FeedRow<T>, part: keyof FeedPosition): boolean {
    bytes += row.bytes;
    if (values.length === limit || (values.length > 0 && bytes > maxParamsBytes)) return false;
    values.push(row.value);
    position[part] = row.movedSeq;
    return true;
  }
  let nextClaimAt: number | undefined;
  for (const row of rows.claims) {
    // Claims lapse in their order, up to the time that lies between a clock and a commit.
    if (row.claimedAt > leaseExpiredAt) nextClaimAt = row.claimedAt;
    if (nextClaimAt !== undefined || !add(row, 'lapsed')) break;
  }
  for (const row of rows.fresh) if (!add(row, 'pending')) break;
  const next = `${position.pending}-${position.lapsed}`;
  return { values, next, ...(nextClaimAt !== undefined && { nextClaimAt }) };
}
