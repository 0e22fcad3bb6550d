import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { MAX_PAGE_SIZE } from '@prism-gateway/protocol';
import type { CallOptions, ListFilter } from '@prism-gateway/sdk';
import type { Candidates } from '../lifecycle/createCandidates.ts';
import type { InFlight } from '../lifecycle/createInFlight.ts';
import type { PendingQueue } from './pendingQueue.ts';

/** Most pages that one look reads. */
const MAX_PAGES = 5;
/** A page older than this is read again before a claim, in milliseconds. */
const STALE_PAGE_MS = 15;
/** When something new may have come since a look, in milliseconds. */
const LOOK_AGAIN_MS = 500;

/** A page of a list. */
type PendingPage = Pick<RequestPage, 'items' | 'lastKey'>;

/** Where pages of requests come from: a relayer's client. */
interface PendingLists {
  list(filter: ListFilter, options?: CallOptions): { page(lastKey?: string | null): Promise<PendingPage> };
}

export interface ListedQueuePorts {
  readonly client: PendingLists;
  readonly candidates: Pick<Candidates, 'see' | 'isLeft'>;
  readonly inFlight: Pick<InFlight, 'has'>;
  readonly chainName: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Makes the queue of a gateway that knows the specification alone: pages of pending requests, oldest first. The head is read at every
 * look; where it is full of requests that nobody takes, such as ones that pay too little, the look goes on behind it, the next one
 * from where this one has ended.
 */
export function createListedQueue(ports: ListedQueuePorts): PendingQueue {
  const { client, candidates, inFlight, chainName, now, signal } = ports;
  const list = client.list({ status: 'pending', chainName, limit: MAX_PAGE_SIZE }, { signal });
  let deepKey: string | null = null;
  let readAtMs = 0;

  const isUseful = ({ requestId }: RequestRecord) => !inFlight.has(requestId) && !candidates.isLeft(requestId);

  /** Reads the head, and further pages while too little of what was read can be of use. */
  async function readPages(wanted: number): Promise<readonly RequestRecord[]> {
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
  }

  /** Reads the head again. @returns whether a record may still be pending: it is shown, or stands behind what was read */
  async function review(count: number): Promise<(record: RequestRecord) => boolean> {
    const shown = new Map<string, RequestRecord>();
    let next: string | null = null;
    for (let page = 0; page < MAX_PAGES && shown.size < count && (page === 0 || next !== null); page += 1) {
      const { items, lastKey } = await list.page(next);
      for (const record of items) shown.set(record.requestId, record);
      next = lastKey;
    }
    const end = [...shown.values()].at(-1)?.createdAt ?? '';
    return ({ requestId, createdAt }) => shown.has(requestId) || (next !== null && createdAt >= end);
  }

  return {
    async look(wanted) {
      const records = await readPages(wanted);
      readAtMs = now();
      const free = records.filter(({ requestId }) => !inFlight.has(requestId));
      return candidates.see(free, readAtMs);
    },
    async dropClaimed(claimable) {
      if (claimable.length === 0 || now() - readAtMs <= STALE_PAGE_MS) return claimable;
      const isPending = await review(claimable.length);
      return claimable.filter(({ record }) => isPending(record));
    },
    // What comes is seen by looking again.
    news: () => sleep(LOOK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined),
    hasMore: () => false,
  };
}
