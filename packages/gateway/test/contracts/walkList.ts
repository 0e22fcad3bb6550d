import type { ListQuery, RequestStore, StoredRequest } from '../../src/ports/requestStore.ts';

/** More pages than any list of a contract has: a walk that never ends is a failure, not a hang. */
const MAX_PAGES = 10_000;

/**
 * Walks a list page by page from its start to its end; pages may be short.
 *
 * @throws Error for a page that is longer than its limit, or a walk that does not end
 */
export async function walkList(store: RequestStore, query: Omit<ListQuery, 'after'>): Promise<StoredRequest[]> {
  const records: StoredRequest[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await store.list({ ...query, ...(after !== undefined && { after }) });
    if (page.items.length > query.limit)
      throw new Error(`a page of ${page.items.length} where ${query.limit} is the limit`);
    records.push(...page.items);
    if (page.next === null) return records;
    after = page.next;
  }
  throw new Error(`the walk did not end in ${MAX_PAGES} pages`);
}
