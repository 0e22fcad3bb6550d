import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { MAX_PAGE_SIZE } from '@prism-gateway/protocol';
import type { CallOptions, ListFilter } from '@prism-gateway/sdk';

/** Most pages that one look reads. */
const MAX_PAGES = 5;

/** A page of a list. */
type PendingPage = Pick<RequestPage, 'items' | 'lastKey'>;

/** Where pages of requests come from: a relayer's client. */
export interface PendingLists {
  list(filter: ListFilter, options?: CallOptions): { page(lastKey?: string | null): Promise<PendingPage> };
}

/** Looks at the queue of a chain. */
export interface PendingQueue {
  /**
   * Reads the head of the queue, and further pages while too little of what was read can be of use.
   *
   * @param isUseful - whether a record may be worth a claim
   * @param wanted - how many useful ones are enough
   */
  look(wanted: number, isUseful: (record: RequestRecord) => boolean): Promise<readonly RequestRecord[]>;
  /**
   * Reads the head of the queue again, to see what rivals have claimed.
   *
   * @param count - how many records are enough
   * @returns whether a record may still be pending: it is shown, or stands behind what was read
   */
  review(count: number): Promise<(record: RequestRecord) => boolean>;
}

/**
 * Makes the view of a chain's pending requests, oldest first. The head is read at every look; where it is full of requests that
 * nobody takes, such as ones that pay too little, the look goes on behind it, the next one from where this one has ended.
 *
 * @param gateway - the relayer's client
 * @param options.chainName - the gateway's name of the chain
 * @param options.signal - ends a look
 */
export function createPendingQueue(
  gateway: PendingLists,
  { chainName, signal }: { readonly chainName: string; readonly signal: AbortSignal },
): PendingQueue {
  const list = gateway.list({ status: 'pending', chainName, limit: MAX_PAGE_SIZE }, { signal });
  let deepKey: string | null = null;
  return {
    async look(wanted, isUseful) {
      const head = await list.page();
      const records = [...head.items];
      let useful = records.filter(isUseful).length;
      let next = deepKey ?? head.lastKey;
      // A page that cannot be read is not asked for again: its cursor may have become invalid with the gateway's settings.
      deepKey = null;
      for (let page = 1; page < MAX_PAGES && useful < wanted && next !== null && head.lastKey !== null; page += 1) {
        const { items, lastKey } = await list.page(next);
        records.push(...items);
        useful += items.filter(isUseful).length;
        next = lastKey;
      }
      deepKey = useful < wanted ? next : null;
      return records;
    },
    async review(count) {
      const shown = new Map<string, RequestRecord>();
      let next: string | null = null;
      for (let page = 0; page < MAX_PAGES && shown.size < count && (page === 0 || next !== null); page += 1) {
        const { items, lastKey } = await list.page(next);
        for (const record of items) shown.set(record.requestId, record);
        next = lastKey;
      }
      const end = [...shown.values()].at(-1)?.createdAt ?? '';
      return ({ requestId, createdAt }) => shown.has(requestId) || (next !== null && createdAt >= end);
    },
  };
}
