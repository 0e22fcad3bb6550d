import type { ListPage, ListQuery } from '../../ports/requestStore.ts';

/** How many records from the first on fit a page, at least one. */
function countFitting({ items }: ListPage, maxBytes: number): number {
  let bytes = 0;
  const tooMany = items.findIndex(({ paramsJson }) => {
    bytes += Buffer.byteLength(paramsJson);
    return bytes > maxBytes;
  });
  return tooMany === -1 ? items.length : Math.max(1, tooMany);
}

/**
 * Keeps pages within `maxParamsBytes`: one that is too large is asked for again with fewer records, and its position leads on from
 * there. Only pages of unusually large params are asked for twice.
 */
export function limitPages(list: (query: ListQuery) => Promise<ListPage>): (query: ListQuery) => Promise<ListPage> {
  return async (query) => {
    const page = await list(query);
    const limit = countFitting(page, query.maxParamsBytes ?? Number.POSITIVE_INFINITY);
    return limit === page.items.length ? page : await list({ ...query, limit });
  };
}
