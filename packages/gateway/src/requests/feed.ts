import { FEED_PAGE_SIZE, type FeedRequestsQuery } from '@prism-gateway/protocol';
import { InvalidCursorError } from '../ports/errors.ts';
import type { FeedPage, FeedQuery, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import type { Look, WaitOrder, Waits } from '../push/createWaits.ts';
import type { CursorCodec } from './createCursorCodec.ts';
import { MAX_PARAMS_BYTES } from './list.ts';

export interface FeedPorts {
  readonly requests: RequestStore;
  readonly waits: Waits;
  readonly cursors: CursorCodec;
  readonly now: () => number;
  /** How long a claim holds, in seconds; 0: for ever. */
  readonly claimLeaseSeconds: number;
}

/** The newly pending requests, and where to go on. */
export interface FeedAnswer {
  readonly items: readonly StoredRequest[];
  readonly cursor: string;
}

/** @throws InvalidCursorError, which names the parameter as it came */
function openSeen({ cursors }: FeedPorts, { seen = '', seenBy, chainName }: FeedRequestsQuery): string {
  try {
    return cursors.open(seen, { feedOf: chainName });
  } catch (cause) {
    throw new InvalidCursorError(seenBy, { cause });
  }
}

/** The store that was asked before may not be the one that is asked now. */
async function readFeed(
  requests: RequestStore,
  query: FeedQuery,
  seenBy: FeedRequestsQuery['seenBy'],
): Promise<FeedPage> {
  try {
    return await requests.feed(query);
  } catch (error) {
    throw error instanceof InvalidCursorError ? new InvalidCursorError(seenBy, { cause: error }) : error;
  }
}

/** When the next claim may lapse: the first one that is known, or one that is made from now on. */
function nextLapseMs(
  { nextClaimAt }: FeedPage,
  { now, leaseMs }: { now: number; leaseMs: number },
): number | undefined {
  if (leaseMs === 0) return undefined;
  return Math.max(1, Math.min(leaseMs, nextClaimAt === undefined ? leaseMs : nextClaimAt + leaseMs - now));
}

/**
 * Reads what has become pending in a chain after a cursor, and waits for it if there is nothing.
 *
 * @param order.signal - aborted once nobody waits for the answer any more
 * @throws InvalidCursorError for a cursor of another chain, or of a store that this deployment no longer has; TooManyWaitsError
 * @see docs/specification.md FEED-1
 */
export async function followFeed(
  ports: FeedPorts,
  order: FeedRequestsQuery & Pick<WaitOrder<never>, 'client' | 'signal' | 'timing'>,
): Promise<FeedAnswer> {
  const { chainName, from, client, waitSeconds, signal, timing } = order;
  const scope = { feedOf: chainName };
  let after = order.seen === undefined ? undefined : openSeen(ports, order);
  const leaseMs = ports.claimLeaseSeconds * 1000;
  async function look(): Promise<Look<readonly StoredRequest[]>> {
    const now = ports.now();
    const bounds = { limit: FEED_PAGE_SIZE, maxParamsBytes: MAX_PARAMS_BYTES };
    const place = { chainName, from, now, ...(after !== undefined && { after }) };
    const lease = leaseMs > 0 && { leaseExpiredAt: now - leaseMs };
    const page = await readFeed(ports.requests, { ...place, ...bounds, ...lease }, order.seenBy);
    after = page.next;
    if (page.items.length > 0) return { found: page.items };
    return { found: page.items, interest: { chainName }, againInMs: nextLapseMs(page, { now, leaseMs }) };
  }
  const items = await ports.waits.until({ look, client, waitSeconds, signal, timing });
  // Each look has left its position.
  return { items, cursor: ports.cursors.seal(after ?? '', scope) };
}
