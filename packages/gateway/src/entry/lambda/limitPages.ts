import type { ListPage, RequestStore } from '../../ports/requestStore.ts';

/**
 * Most bytes of params in a page. Lambda takes answers of 6 MB, in which quotes are escaped once more and the other fields of a
 * hundred records stand too.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const MAX_PARAMS_BYTES = 4_000_000;

/** How many records from the first on fit a page, at least one. */
function countFitting({ items }: ListPage): number {
  let bytes = 0;
  const tooMany = items.findIndex(({ paramsJson }) => {
    bytes += Buffer.byteLength(paramsJson);
    return bytes > MAX_PARAMS_BYTES;
  });
  return tooMany === -1 ? items.length : Math.max(1, tooMany);
}

/**
 * Keeps pages within what a function can answer: one that is too large is asked for again with fewer records, and its cursor leads
 * on from there. Only pages of unusually large params are asked for twice.
 */
export function limitPages(requests: RequestStore): RequestStore {
  return {
    ...requests,
    async list(query) {
      const page = await requests.list(query);
      const limit = countFitting(page);
      return limit === page.items.length ? page : await requests.list({ ...query, limit });
    },
  };
}
