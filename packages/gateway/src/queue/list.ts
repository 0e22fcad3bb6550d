import type { ListRequestsQuery } from '@prism-gateway/protocol';
import { InvalidCursorError } from '../ports/errors.ts';
import type { ListPage, ListQuery, RequestFilter, RequestStore } from '../ports/requestStore.ts';
import { type CursorCodec, invalidCursor } from './cursor.ts';
import { renderRecord } from './renderRecord.ts';

export interface ListPorts {
  readonly requests: RequestStore;
  readonly cursors: CursorCodec;
}

/**
 * Most bytes of params in a page. A hundred usual requests have a tenth of it; a hundred of the largest would be 26 MB, of which a
 * few clients that read slowly would fill the memory, and more than the 6 MB that Lambda answers with.
 */
const MAX_PARAMS_BYTES = 1_000_000;

/** A cursor that this deployment sealed, but for a store that it no longer has, is as good as a broken one. */
async function listPage(ports: ListPorts, query: ListQuery): Promise<ListPage> {
  try {
    return await ports.requests.list(query);
  } catch (error) {
    throw error instanceof InvalidCursorError ? invalidCursor() : error;
  }
}

/**
 * Reads one page of requests.
 *
 * @returns the page as JSON: `{ items, count, lastKey }`
 * @throws ApiError VALIDATION_FAILED for a `lastKey` of another list
 * @see docs/specification.md LIST-1
 */
export async function listRequests(ports: ListPorts, query: ListRequestsQuery): Promise<string> {
  const { signer, status, chainName, order, limit, lastKey } = query;
  const filter: RequestFilter = {
    ...(signer !== undefined && { signer }),
    ...(status !== undefined && { status }),
    ...(chainName !== undefined && { chainName }),
  };
  const after = lastKey === undefined ? undefined : ports.cursors.open(lastKey, { filter, order });
  const bounds = { limit, maxParamsBytes: MAX_PARAMS_BYTES };
  const page = await listPage(ports, { filter, order, ...bounds, ...(after !== undefined && { after }) });
  const next = page.next === null ? null : ports.cursors.seal(page.next, { filter, order });
  const items = page.items.map(renderRecord).join(',');
  return `{"items":[${items}],"count":${page.items.length},"lastKey":${JSON.stringify(next)}}`;
}
