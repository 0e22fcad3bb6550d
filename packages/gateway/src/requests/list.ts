import { isPublicList, type ListRequestsQuery } from '@prism-gateway/protocol';
import type { RequestStore, StoredRequest } from '../ports/requestStore.ts';
import type { CursorCodec } from './createCursorCodec.ts';

export interface ListPorts {
  readonly requests: RequestStore;
  readonly cursors: CursorCodec;
  readonly now: () => number;
  /** How long a claim holds, in seconds; 0: for ever. */
  readonly claimLeaseSeconds: number;
}

/** One page of requests. */
export interface RequestsPage {
  readonly items: readonly StoredRequest[];
  /** Cursor of the next page; null after the last one. */
  readonly lastKey: string | null;
}

/**
 * Most bytes of params in a page. A hundred usual requests have a tenth of it; a hundred of the largest would be 26 MB, of which a
 * few clients that read slowly would fill the memory, and more than the 6 MB that Lambda answers with.
 */
export const MAX_PARAMS_BYTES = 1_000_000;
/** The same for anybody: fewer, since anybody may ask on any number of connections, and read none of the answers. */
const MAX_PUBLIC_PARAMS_BYTES = 128_000;

/**
 * Reads one page of requests. Among the pending ones are those whose claim has lapsed: a relayer that knows no feed finds them there.
 *
 * @throws InvalidCursorError for a `lastKey` of another list, or of a store that this deployment no longer has
 * @see docs/specification.md LIST-1
 */
export async function listRequests(ports: ListPorts, query: ListRequestsQuery): Promise<RequestsPage> {
  const { order, limit, lastKey, ...filter } = query;
  const after = lastKey === undefined ? undefined : ports.cursors.open(lastKey, { filter, order });
  const isPublic = isPublicList(Object.keys(filter));
  const bounds = { limit, maxParamsBytes: isPublic ? MAX_PUBLIC_PARAMS_BYTES : MAX_PARAMS_BYTES };
  const { claimLeaseSeconds } = ports;
  const lease = claimLeaseSeconds > 0 && { leaseExpiredAt: ports.now() - claimLeaseSeconds * 1000 };
  const page = await ports.requests.list({ filter, order, ...bounds, ...lease, ...(after !== undefined && { after }) });
  return { items: page.items, lastKey: page.next === null ? null : ports.cursors.seal(page.next, { filter, order }) };
}
