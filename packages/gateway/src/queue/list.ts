import type { ListRequestsQuery } from '@prism-gateway/protocol';
import type { RequestFilter, RequestStore } from '../ports/requestStore.ts';
import type { CursorCodec } from './cursor.ts';
import { renderRecord } from './renderRecord.ts';

export interface ListPorts {
  readonly requests: RequestStore;
  readonly cursors: CursorCodec;
}

/**
 * Reads one page of requests.
 *
 * @returns the page as JSON: `{ items, count, lastKey }`
 * @throws ApiError VALIDATION_FAILED for a `lastKey` of another list
 * @see SPEC.md section 4, "GET /requests"
 */
export async function listRequests(ports: ListPorts, query: ListRequestsQuery): Promise<string> {
  const { signer, status, chainName, order, limit, lastKey } = query;
  const filter: RequestFilter = {
    ...(signer !== undefined && { signer }),
    ...(status !== undefined && { status }),
    ...(chainName !== undefined && { chainName }),
  };
  const after = lastKey === undefined ? undefined : ports.cursors.open(lastKey, { filter, order });
  const page = await ports.requests.list({ filter, order, limit, ...(after !== undefined && { after }) });
  const next = page.next === null ? null : ports.cursors.seal(page.next, { filter, order });
  const items = page.items.map(renderRecord).join(',');
  return `{"items":[${items}],"count":${page.items.length},"lastKey":${JSON.stringify(next)}}`;
}
