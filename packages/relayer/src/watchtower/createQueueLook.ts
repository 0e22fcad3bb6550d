import { pause } from '@prism-gateway/node';
import type { RequestRecord } from '@prism-gateway/protocol';
import type { RelayerClient, RequestList } from '@prism-gateway/sdk';
import { chooseFeedPause, isGatewayError } from '@prism-gateway/sdk';
import { LOOK_SECONDS } from './findDoubt.ts';

/** Records a page of a list, and of the first page of the newest: at most looks few of them are new. */
const [PAGE, FIRST_PAGE] = [100, 30];
/** Most pages of the open requests a look: a longer queue is gone through over several looks. */
const MAX_SWEEP_PAGES = 40;
/** Most requests a look that are asked for one by one. */
const MAX_ASKED = 200;
/** How often all open requests are listed while none is known, in milliseconds: what is posted meanwhile is among the newest. */
const IDLE_SWEEP_MS = 60_000;
/**
 * Most bytes of new requests that a look keeps of those from before the last look: of the day before the first one, or of a time in which
 * nobody looked. Nobody would be accused of an older one. What was posted since the last look is kept whole, or a liar could hide behind it.
 */
const MAX_UNWATCHED_BYTES = 32 * 1024 * 1024;
/** By how much the gateway's clock may be behind, in milliseconds. */
const SKEW_MS = 60_000;
/** Of a record without its params, about. */
const RECORD_BYTES = 300;
/** How long the gateway waits for something new, in seconds: the longest that it takes. */
const WAIT_SECONDS = 25;

/** The queue's changes since the last look. */
export interface QueueUpdate {
  /** As they are listed; of one that stands here twice the last counts. */
  readonly records: readonly RequestRecord[];
  /** Known requests that the gateway does not have any more. */
  readonly gone: readonly string[];
  /** When the look began, in Unix milliseconds. */
  readonly atMs: number;
}

/** Whose queue it is, and what is known of it. */
interface QueueLookOptions {
  readonly client: Pick<RelayerClient, 'list' | 'get' | 'readFeed'>;
  readonly chainName: string;
  /** Whether a request is known just so. */
  readonly isKnown: (record: RequestRecord) => boolean;
  /** Whether no open request is known. */
  readonly isIdle: () => boolean;
  /** Open requests that were not listed since a time, in Unix milliseconds. */
  readonly listUnseen: (beforeMs: number, limit: number) => readonly string[];
  readonly now: () => number;
  /** How far back the first look goes, in Unix milliseconds. */
  readonly sinceMs: number;
}

/** Leaves out the params of what is pending: anybody may post large ones, and nothing is compared with them yet. */
function dropParams(record: RequestRecord): RequestRecord {
  // They are read of what is claimed or ended alone.
  return record.status === 'pending' ? { ...record, params: {} as never } : record;
}

const bytesOf = ({ status, params }: RequestRecord) =>
  RECORD_BYTES + (status === 'pending' ? 0 : JSON.stringify(params).length);

/** The newest requests, down to a page of which everything is known. @param watchedFromMs - from when on all are kept */
async function readNewest(
  { client, chainName, isKnown, sinceMs }: QueueLookOptions,
  watchedFromMs: number,
): Promise<RequestRecord[]> {
  const fresh: RequestRecord[] = [];
  let bytes = 0;
  for (let [limit, from] = [FIRST_PAGE, undefined as string | null | undefined]; from !== null; limit = PAGE) {
    const { items, lastKey } = await client.list({ chainName, order: 'desc', limit }).page(from);
    from = lastKey;
    const unknown = items.filter((record) => !isKnown(record));
    for (const record of unknown) {
      if (Date.parse(record.createdAt) < sinceMs) continue;
      fresh.push(dropParams(record));
      bytes += bytesOf(record);
    }
    const isBefore = (ms: number) => items.some(({ createdAt }) => Date.parse(createdAt) < ms);
    const isFull = bytes > MAX_UNWATCHED_BYTES && isBefore(watchedFromMs);
    if (unknown.length === 0 || isBefore(sinceMs) || isFull) break;
  }
  return fresh;
}

/** Walks through lists again and again, some pages at a time. */
function createSweep({ client, chainName, now }: QueueLookOptions) {
  let startedAtMs = 0;
  let pages: AsyncIterator<{ readonly items: readonly RequestRecord[] }> | undefined;
  async function* listOpen() {
    // Claims move from the one to the other: in this order none of them can be missed by both.
    for (const status of ['pending', 'processing'] as const) {
      const list: RequestList = client.list({ chainName, status, limit: PAGE });
      yield* list.pages();
    }
  }
  /** @returns what was listed, and when the sweep that has just ended began */
  return async function sweep(): Promise<{ records: RequestRecord[]; sweptFromMs: number | undefined }> {
    const records: RequestRecord[] = [];
    if (pages === undefined) {
      startedAtMs = now();
      pages = listOpen();
    }
    for (let page = 0; page < MAX_SWEEP_PAGES; page += 1) {
      const next = await pages.next().catch((error: unknown) => {
        pages = undefined;
        throw error;
      });
      if (next.done === true) {
        pages = undefined;
        return { records, sweptFromMs: startedAtMs };
      }
      records.push(...next.value.items.map(dropParams));
    }
    return { records, sweptFromMs: undefined };
  };
}

/** Looks at a queue, and waits until there is something to look at. */
export interface QueueLook {
  /** Looks at what is new, what is open, and what became of those that are open no more. @throws GatewayError */
  look(): Promise<QueueUpdate>;
  /** Waits until something becomes pending, or for some time. It never throws. */
  waitForUpdate(signal: AbortSignal): Promise<void>;
}

/**
 * Waits at the feed of a gateway.
 *
 * @param added - what becomes pending is added to it
 */
function createFeedWait({ client, chainName }: QueueLookOptions, added: RequestRecord[]) {
  let cursor: string | undefined;
  let quiet = 0;
  return async function waitForUpdate(signal: AbortSignal): Promise<void> {
    // Requests posted before the first cursor are found by the look that follows at once.
    const from = cursor === undefined ? ({ from: 'now', wait: 0 } as const) : { cursor, wait: WAIT_SECONDS };
    const page = await client.readFeed({ chainName, ...from, signal }).catch(() => undefined);
    cursor = page?.cursor;
    added.push(...(page?.items ?? []).map(dropParams));
    quiet = added.length > 0 ? 0 : quiet + 1;
    if (quiet > 0 && page?.askAgainMs !== undefined) await pause(chooseFeedPause(page.askAgainMs, quiet - 1), signal);
  };
}

/** Makes the look at a gateway's queue. @see docs/specification.md WATCH-2 */
export function createQueueLook(options: QueueLookOptions): QueueLook {
  const { client, listUnseen, isIdle, now } = options;
  const sweep = createSweep(options);
  const added: RequestRecord[] = [];
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  async function ask(requestId: string): Promise<RequestRecord | string> {
    try {
      return await client.get(requestId);
    } catch (error) {
      if (isGatewayError(error, 'NOT_FOUND')) return requestId;
      throw error;
    }
  }
  async function look() {
    const atMs = now();
    const watchedFromMs =
      atMs - lookedAtMs < Number(LOOK_SECONDS) * 1000 ? lookedAtMs - SKEW_MS : Number.POSITIVE_INFINITY;
    const newest = [...added, ...(await readNewest(options, watchedFromMs))];
    lookedAtMs = atMs;
    if (newest.length === 0 && isIdle() && atMs - sweptAtMs < IDLE_SWEEP_MS) return { records: [], gone: [], atMs };
    const { records, sweptFromMs } = await sweep();
    sweptAtMs = atMs;
    const listed = new Set([...newest, ...records].map(({ requestId }) => requestId));
    const unseen = sweptFromMs === undefined ? [] : listUnseen(sweptFromMs, MAX_ASKED);
    const asked = await Promise.all(unseen.filter((requestId) => !listed.has(requestId)).map(ask));
    const gone = asked.filter((each) => typeof each === 'string');
    added.length = 0;
    return { records: [...newest, ...records, ...asked.filter((each) => typeof each !== 'string')], gone, atMs };
  }
  return { look, waitForUpdate: createFeedWait(options, added) };
}
