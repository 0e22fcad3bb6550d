import { REQUEST_MOVES } from '@prism-gateway/protocol';
import type { FeedPage, FeedQuery } from '../../ports/requestStore.ts';
import {
  type FeedCursor,
  type Followed,
  followIndex,
  MOST_GIVEN,
  readFeedCursor,
  writeFeedCursor,
} from './followIndex.ts';
import { readItems } from './items.ts';
import type { OpenClaim, OpenClaims } from './openClaims.ts';
import { completeFitting, type ParamsReader } from './params.ts';
import { type Position, positionOf, startOf, timeOf } from './position.ts';
import { headOf, isExpired, type RequestHeader, type RequestTable } from './record.ts';
import { requestIndexes } from './tables.ts';
import { type IndexKey, laneOf, statusLanes } from './walk.ts';

/** How old the picture of open claims may be, and how much longer a claim may be on its way into it, in milliseconds. */
const CLAIMS_AGE_MS = 5000;
const CLAIMS_WAY_MS = 5000;
/** How far the clocks of two processes may differ: what began this long before "now" may have become pending after it. */
const CLOCKS_MS = 1000;
/** A walk finds requests released this long before it began among the pending ones, in order of age. */
const RELEASES_MS = 60_000;

/** Most pages that are looked at for one that is not empty. */
const MAX_PAGES = 5;

export interface FeedContext {
  readonly table: RequestTable;
  readonly params: ParamsReader;
  readonly openClaims: OpenClaims;
}

/** Something that may have become pending. */
interface Candidate {
  readonly requestId: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  readonly source: 'pendingAgain' | 'pending' | 'releasedAgain' | 'released' | 'lapsed';
}

function beginningOf({ from, now, leaseExpiredAt = 0 }: FeedQuery): FeedCursor {
  const trackFrom = (place: Position) => ({ passed: place, known: place, given: [] });
  if (from === 'oldest') {
    return { pending: trackFrom(startOf(0)), released: trackFrom(startOf(now - RELEASES_MS)), lapsed: startOf(0) };
  }
  const place = startOf(now - CLOCKS_MS);
  return { pending: trackFrom(place), released: trackFrom(place), lapsed: startOf(leaseExpiredAt) };
}

const claimPosition = ({ claimedAt, requestId }: OpenClaim) => positionOf({ createdAt: claimedAt, requestId });

/** Claims of the chain behind a place, the oldest first. */
async function findClaims({ openClaims }: FeedContext, cursor: FeedCursor, query: FeedQuery): Promise<OpenClaim[]> {
  if (query.leaseExpiredAt === undefined) return [];
  const claims = [...(await openClaims.read(CLAIMS_AGE_MS)).values()];
  return claims
    .filter((claim) => claim.chainName === query.chainName && claimPosition(claim) > cursor.lapsed)
    .sort((a, b) => (claimPosition(a) < claimPosition(b) ? -1 : 1));
}

/** Of claims those that have lapsed, and that no older one can come before any more. */
function lapsedOf(claims: readonly OpenClaim[], { leaseExpiredAt = 0, now, limit }: FeedQuery): OpenClaim[] {
  const bound = Math.min(leaseExpiredAt, now - CLAIMS_AGE_MS - CLAIMS_WAY_MS);
  return claims.filter(({ claimedAt }) => claimedAt <= bound).slice(0, limit);
}

/** All that may have become pending, in the order in which it did. */
function candidatesOf({ pending, released, lapsed }: Found, leaseMs: number): Candidate[] {
  const candidate = (source: Candidate['source']) => (key: IndexKey) => {
    return { requestId: key.requestId, at: timeOf(key.position), source };
  };
  const all: Candidate[] = [
    ...pending.again.map(candidate('pendingAgain')),
    ...pending.fresh.map(candidate('pending')),
    ...released.again.map(candidate('releasedAgain')),
    ...released.fresh.map(candidate('released')),
    ...lapsed.map(({ requestId, claimedAt }) => ({ requestId, at: claimedAt + leaseMs, source: 'lapsed' as const })),
  ];
  // Stable: those of one source stay in its own order.
  return all.sort((a, b) => a.at - b.at);
}

function isToBeHad({ record }: RequestHeader, { chainName, leaseExpiredAt }: FeedQuery): boolean {
  if (record.chainName !== chainName) return false;
  if (record.status === REQUEST_MOVES.claim.from) return true;
  const { claimedAt = Number.POSITIVE_INFINITY } = record;
  return record.status === REQUEST_MOVES.takeOver.from && leaseExpiredAt !== undefined && claimedAt <= leaseExpiredAt;
}

/** Reads back how the candidates stand now. @returns one a candidate; undefined: it is not to be had, or stands before already */
async function readCurrentHeads(
  { table }: FeedContext,
  candidates: readonly Candidate[],
  query: FeedQuery,
): Promise<(RequestHeader | undefined)[]> {
  const ids = new Set(candidates.map(({ requestId }) => requestId));
  const items = await readItems(table, [...ids], { consistent: true });
  const now = table.now();
  return candidates.map(({ requestId }) => {
    const head = ids.delete(requestId) ? headOf(items.get(requestId)) : undefined;
    return head !== undefined && isToBeHad(head, query) && !isExpired(head, now) ? head : undefined;
  });
}

/** Entries after a position. */
interface Found {
  readonly pending: Followed;
  readonly released: Followed;
  /** Claims that stand, and those of them that have lapsed. */
  readonly claims: readonly OpenClaim[];
  readonly lapsed: readonly OpenClaim[];
}

async function findBehind(context: FeedContext, cursor: FeedCursor, query: FeedQuery): Promise<Found> {
  const { table } = context;
  const { chainName, limit, now } = query;
  const plan = { limit, now };
  const lanes = await statusLanes(table, { status: REQUEST_MOVES.claim.from, chainName });
  const [pending, released, claims] = await Promise.all([
    followIndex(table, cursor.pending, { ...plan, lanes, mostGiven: MOST_GIVEN.pending }),
    followIndex(table, cursor.released, {
      ...{ ...plan, lanes: [laneOf(requestIndexes.found, chainName)], mostGiven: MOST_GIVEN.released },
    }),
    findClaims(context, cursor, query),
  ]);
  return { pending, released, claims, lapsed: lapsedOf(claims, query) };
}

/** The place behind candidates that were used, and the claim after it that lapses first. */
function placeBehind(cursor: FeedCursor, found: Found, used: readonly Candidate[]) {
  const { pending, released, claims, lapsed } = found;
  const count = (source: Candidate['source']) => used.filter((each) => each.source === source).length;
  const last = lapsed[count('lapsed') - 1];
  const next: FeedCursor = {
    pending: pending.trackBehind({ again: count('pendingAgain'), fresh: count('pending') }),
    released: released.trackBehind({ again: count('releasedAgain'), fresh: count('released') }),
    lapsed: last === undefined ? cursor.lapsed : claimPosition(last),
  };
  return { next, nextClaimAt: claims[count('lapsed')]?.claimedAt };
}

/** Reads one page, which may be empty although there is more behind it. */
async function readPage(context: FeedContext, cursor: FeedCursor, query: FeedQuery) {
  const { limit, now, leaseExpiredAt = 0, maxParamsBytes } = query;
  const found = await findBehind(context, cursor, query);
  const candidates = candidatesOf(found, now - leaseExpiredAt).slice(0, limit);
  const current = await readCurrentHeads(context, candidates, query);
  const places = current.flatMap((head, place) => (head === undefined ? [] : [place]));
  let used = candidates.length;
  const giveBackFrom = (index: number) => {
    used = places[index] ?? used;
  };
  const heads = current.filter((head) => head !== undefined);
  const items = await completeFitting(context.params, { heads, giveBackFrom }, maxParamsBytes);
  const place = placeBehind(cursor, found, candidates.slice(0, used));
  return { items, ...place, isEnd: candidates.length < limit };
}

/**
 * Reads what has become pending in a chain after a place: new entries of the index of what is pending, those of the index of what was
 * given back, and claims that have lapsed.
 *
 * @throws DependencyUnavailableError, InvalidCursorError
 */
export async function feedRequests(context: FeedContext, query: FeedQuery): Promise<FeedPage> {
  const { after } = query;
  let page = await readPage(context, after === undefined ? beginningOf(query) : readFeedCursor(after), query);
  // All of a page may have been claimed since it came into the index.
  for (let pages = 1; pages < MAX_PAGES && page.items.length === 0 && !page.isEnd; pages++) {
    page = await readPage(context, page.next, query);
  }
  const { items, next, nextClaimAt } = page;
  return { items, next: writeFeedCursor(next), ...(nextClaimAt !== undefined && { nextClaimAt }) };
}
