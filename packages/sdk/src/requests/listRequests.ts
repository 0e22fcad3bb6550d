import type { ListFilters, RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/gatewayError.ts';
import type { GatewayCall, Transport } from '../http/createTransport.ts';
import { type CallOptions, readPage } from './getRequest.ts';

/** Which requests a list holds: all filters that are given must hold. */
export interface ListFilter extends ListFilters {
  /** Records a page, 1 to 100; the gateway's default is 20. */
  readonly limit?: number | undefined;
  /** `asc`, the default, is oldest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** A list of requests: iterate over its records, or take it page by page. */
export interface RequestList extends AsyncIterable<RequestRecord> {
  /**
   * Reads one page.
   *
   * @param lastKey - of the page before; none for the first page
   * @returns a page; its `lastKey` is null if it is the last
   * @throws GatewayError
   */
  page(lastKey?: string | null): Promise<RequestPage>;
  /** Iterates over whole pages. @throws GatewayError UNEXPECTED_ANSWER also if a cursor comes again */
  pages(): AsyncIterable<RequestPage>;
}

/**
 * Makes a list; nothing is asked before it is read.
 *
 * @param transport - the way to the gateway
 * @param list.makeHeaders - relayer auth, for the filters that need it
 * @see docs/specification.md LIST-5
 */
export function listRequests(
  transport: Transport,
  list: ListFilter & CallOptions & Pick<GatewayCall, 'makeHeaders'>,
): RequestList {
  const { signal, makeHeaders, ...filter } = list;
  async function page(lastKey?: string | null): Promise<RequestPage> {
    const query = { ...filter, lastKey: lastKey ?? undefined };
    const call = { method: 'GET', path: '/requests', query, repeat: 'freely', makeHeaders, signal } as const;
    return readPage('GET /requests', await transport.call(call));
  }
  async function* pages(): AsyncGenerator<RequestPage> {
    const passed = new Set<string | null | undefined>([null]);
    for (let lastKey: string | null | undefined; !passed.has(lastKey); ) {
      passed.add(lastKey);
      const next = await page(lastKey);
      yield next;
      lastKey = next.lastKey;
      // Such a walk would never end.
      if (lastKey && passed.has(lastKey)) throw unexpectedAnswer('GET /requests', 'list with an end');
    }
  }
  return {
    page,
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items;
    },
  };
}
