import { REQUEST_STATUSES, type RequestStatus } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { RequestFilter, RequestStore, StoredRequest } from '../../../src/ports/requestStore.ts';
import { ALL, isListed } from '../storedRequests.ts';
import { walkList } from '../walkList.ts';

/** Which of two records comes first in a list: negative for the first one. */
export function compareListed(order: 'asc' | 'desc'): (a: StoredRequest, b: StoredRequest) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => sign * (a.createdAt - b.createdAt || (a.requestId < b.requestId ? -1 : 1));
}

interface Scope {
  readonly signers: readonly string[];
  readonly chains: readonly string[];
}

function filtersOf({ signers, chains }: Scope): RequestFilter[] {
  const shout = (signer: string) => signer.toUpperCase().replace('X', 'x');
  return [
    ...REQUEST_STATUSES.map((status) => ({ status })),
    ...chains.flatMap((chainName) => [{ chainName }, ...REQUEST_STATUSES.map((status) => ({ chainName, status }))]),
    ...signers.flatMap((signer) => [{ signer }, { signer: shout(signer), status: 'processing' as const }]),
    ...signers.flatMap((signer) => chains.map((chainName) => ({ signer, chainName }))),
  ];
}

/** Walks every list of a store at rest and compares it with the records that the model says it has. */
export async function expectLists(
  store: RequestStore,
  {
    records,
    own,
    limits,
  }: { readonly records: readonly StoredRequest[]; readonly own: Scope; readonly limits: readonly number[] },
): Promise<void> {
  for (const [i, filter] of filtersOf(own).entries()) {
    const order = (i + limits.length) % 2 === 0 ? 'asc' : 'desc';
    const expected = records.filter((record) => isListed(record, filter)).sort(compareListed(order));
    const walked = await walkList(store, { filter, order, limit: limits[i % limits.length] ?? 1 });
    expect(walked, `the list of ${JSON.stringify({ filter, order })}`).toStrictEqual(expected);
  }
}

/** Compares the store's figures with the model's. */
export async function expectStats(store: RequestStore, records: readonly StoredRequest[]): Promise<void> {
  const countOf = (status: RequestStatus) => records.filter((record) => record.status === status).length;
  const stats = await store.stats();
  const pendingTimes = records.filter(({ status }) => status === 'pending').map(({ createdAt }) => createdAt);
  expect(stats.oldestPendingAt).toBe(pendingTimes.length === 0 ? undefined : Math.min(...pendingTimes));
  if (stats.countByStatus === undefined) return;
  expect(stats.countByStatus).toStrictEqual(
    Object.fromEntries(REQUEST_STATUSES.map((status) => [status, countOf(status)])),
  );
}

/** Most pages of a feed that is not read while others write. */
const MAX_FEED_PAGES = 1000;

/** Walks the feed of each chain from its beginning: what is pending comes once, and nothing that has ended comes at all. */
export async function expectFeeds(
  store: RequestStore,
  { records, chains }: { readonly records: readonly StoredRequest[]; readonly chains: readonly string[] },
): Promise<void> {
  for (const chainName of chains) {
    const own = records.filter((record) => record.chainName === chainName && record.status === 'pending');
    const seen: string[] = [];
    let after: string | undefined;
    for (let page = 0; page < MAX_FEED_PAGES; page++) {
      const place = {
        chainName,
        from: 'oldest',
        limit: 7,
        now: 0,
        ...ALL,
        ...(after !== undefined && { after }),
      } as const;
      const { items, next } = await store.feed(place);
      if (items.length === 0) break;
      seen.push(...items.map(({ requestId }) => requestId));
      after = next;
    }
    const ids = own.map(({ requestId }) => requestId);
    expect([...new Set(seen)].sort(), `the feed of ${chainName}`).toStrictEqual(ids.sort());
  }
}
