import type { RequestRecord } from '@prism-gateway/protocol';
import { createBackOff } from '@prism-gateway/runtime';
import { GatewayError, isGatewayError } from '@prism-gateway/sdk';
import type { Journal } from '../journal/openJournal.ts';
import type { Candidate, Candidates } from '../lifecycle/createCandidates.ts';
import type { ChainNotes } from '../lifecycle/createChainNotes.ts';
import type { InFlight } from '../lifecycle/createInFlight.ts';
import { runLimited } from '../lifecycle/runLimited.ts';
import type { FeedPage, QueueCalls } from './createQueueCalls.ts';
import type { PendingQueue } from './pendingQueue.ts';
import type { RequestGateway } from './requestGateway.ts';

/** How long the gateway waits for something new, in seconds: the longest that it takes. */
const WAIT_SECONDS = 25;
/** Most requests that are kept in memory, and most new ones that wait to be looked at. */
const MAX_CANDIDATES = 4000;
const MAX_UNREAD = 500;
/** Most requests of the backlog that are looked at beside new ones. */
const MAX_BACKLOG = 200;
/** Most requests that a look reads again by their ids, and how many at once. */
const MAX_RECALLED = 20;
const MAX_CALLS = 8;
/** Most old cursors that are kept: the oldest one covers those between. */
const MAX_WALKS = 4;
/** A request that was seen before this is read again before a claim, in milliseconds. */
const STALE_MS = 1000;
/** What is forgotten from memory while it waits is looked at again after this, in milliseconds, at the earliest. */
const SHED_PAUSE_MS = 600_000;
/** Pauses while the feed cannot be read, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 10_000 };

/** What following goes through. */
export interface FeedQueuePorts {
  readonly calls: Pick<QueueCalls, 'feed'>;
  readonly gateway: Pick<RequestGateway, 'read'>;
  readonly journal: Pick<Journal, 'cursors' | 'saveCursors' | 'recall' | 'postpone' | 'forgetVerdict' | 'get'>;
  readonly candidates: Pick<Candidates, 'see' | 'list' | 'has' | 'size' | 'shed' | 'forget' | 'countReasons'>;
  readonly inFlight: Pick<InFlight, 'has'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  /** What a unit of gas costs, in wei. */
  readonly gasPrice: () => Promise<bigint>;
  readonly wake: () => void;
  readonly now: () => number;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** A walk through what was posted before the live feed began, from a cursor on; undefined: from the oldest. */
interface Walk {
  cursor: string | undefined;
}

/**
 * Follows the feed of a gateway: what is new is looked at first and at once; what was posted while this relayer was away is walked
 * through beside it. The head is never read again: what has been looked at is in the journal, and is read by its id when its time
 * has come.
 *
 * @param ports - the feed, and what is known already
 * @param first - where the live feed begins: what came of asking whether there is one
 */
export function createFeedQueue(ports: FeedQueuePorts, first: FeedPage): PendingQueue {
  const { calls, gateway, journal, candidates, inFlight, notes, wake, now, random, signal } = ports;
  let unread: RequestRecord[] = [...first.items];
  let liveCursor = first.cursor;
  let drained = Promise.withResolvers<void>();
  const walks: Walk[] = loadWalks();
  /** The next page of the first walk: it is read while the one before is judged. */
  let next: Promise<FeedPage | undefined> | undefined;
  let isStuck = false;
  /** Saved once all that they have shown is judged. */
  let unsaved: readonly (string | undefined)[] | undefined;

  function loadWalks(): Walk[] {
    const saved = journal.cursors();
    if (saved.length === 0) return [{ cursor: undefined }];
    const kept = saved.length <= MAX_WALKS ? saved : [...saved.slice(0, 1), ...saved.slice(1 - MAX_WALKS)];
    return kept.map((cursor) => ({ cursor }));
  }

  /** Waits until what has been read is looked at: nobody makes this relayer hold more than its bounds. */
  async function waitForRoom(): Promise<void> {
    while (unread.length >= MAX_UNREAD && !signal.aborted) await drained.promise;
  }

  async function follow(): Promise<void> {
    const backOff = createBackOff({ ...PAUSES, random, signal });
    while (!signal.aborted) {
      await waitForRoom();
      try {
        const page = await calls.feed({ cursor: liveCursor, wait: WAIT_SECONDS });
        liveCursor = page.cursor;
        unread.push(...page.items);
        if (page.items.length > 0) wake();
        backOff.reset();
      } catch (error) {
        if (signal.aborted) return;
        await noteFault(error);
        if (!(await backOff.wait())) return;
      }
    }
  }

  /** A cursor that has become invalid begins anew; what lies between is walked through. */
  async function noteFault(error: unknown): Promise<void> {
    notes.fault('gateway');
    notes.log.warn({ code: error instanceof GatewayError ? error.code : 'UNKNOWN' }, 'the feed cannot be read');
    if (!(error instanceof GatewayError)) throw error;
    if (!isGatewayError(error, 'VALIDATION_FAILED')) return;
    walks.splice(0, walks.length, { cursor: undefined });
    liveCursor = (await calls.feed({ from: 'now', wait: 0 }).catch(() => ({ cursor: liveCursor }))).cursor;
  }

  /** Reads the next page of a walk. @returns undefined where it cannot be read now */
  async function readBacklog(walk: Walk): Promise<FeedPage | undefined> {
    try {
      const page = await calls.feed({ cursor: walk.cursor, wait: 0 });
      isStuck = false;
      return page;
    } catch (error) {
      isStuck = true;
      if (isGatewayError(error, 'VALIDATION_FAILED')) walk.cursor = undefined;
      else if (!signal.aborted) notes.fault('gateway');
      return undefined;
    }
  }

  const countUnjudged = () => candidates.countReasons().get('seen') ?? 0;

  /** A walk that has shown nothing is not saved: it begins at the oldest again. */
  function saveCursors(): void {
    if (unsaved === undefined || countUnjudged() > 0) return;
    journal.saveCursors(unsaved.filter((cursor) => cursor !== undefined));
    unsaved = undefined;
  }

  async function takeBacklog(): Promise<readonly RequestRecord[]> {
    const [walk] = walks;
    if (walk === undefined || countUnjudged() > MAX_BACKLOG) return [];
    const page = await (next ?? readBacklog(walk));
    next = undefined;
    if (page === undefined) return [];
    walk.cursor = page.cursor;
    // A walk has ended when there is nothing behind its cursor.
    if (page.items.length === 0) walks.shift();
    else next = readBacklog(walk);
    return page.items;
  }

  /** Reads again what was judged once and whose time has come: from the journal it knows the ids alone. */
  async function recall(): Promise<readonly RequestRecord[]> {
    if (unread.length > 0 || candidates.size > MAX_CANDIDATES / 2) return [];
    const nowMs = now();
    const ids = journal.recall({ nowMs, gasPrice: await ports.gasPrice(), limit: MAX_RECALLED });
    const records: RequestRecord[] = [];
    await runLimited({
      list: ids.filter((id) => !candidates.has(id) && !inFlight.has(id)),
      limit: MAX_CALLS,
      async act(id) {
        const record = await gateway.read(id);
        if (record?.status === 'pending') records.push(record);
        else journal.forgetVerdict(id);
      },
    });
    journal.postpone(ids, nowMs + SHED_PAUSE_MS);
    return records;
  }

  async function stillPending<T extends Candidate>(claimable: readonly T[]): Promise<readonly T[]> {
    const gone = new Set<string>();
    await runLimited({
      list: claimable.filter(({ lastSeenMs }) => now() - lastSeenMs > STALE_MS).slice(0, MAX_RECALLED),
      limit: MAX_CALLS,
      async act({ record: { requestId } }) {
        const record = await gateway.read(requestId);
        if (record?.status !== 'pending') gone.add(requestId);
        else candidates.see([record], now());
      },
    });
    for (const id of gone) candidates.forget(id);
    return claimable.filter(({ record }) => !gone.has(record.requestId));
  }

  // It ends with the signal; a defect is told like any other.
  follow().catch((error: unknown) => notes.log.error({ err: error }, 'following the feed failed'));
  return {
    async look() {
      saveCursors();
      const nowMs = now();
      const shed = candidates.shed({ max: MAX_CANDIDATES, nowMs });
      journal.postpone(
        shed.map(({ record }) => record.requestId),
        nowMs + SHED_PAUSE_MS,
      );
      const fresh = unread;
      unread = [];
      drained.resolve();
      drained = Promise.withResolvers();
      const liveAt = liveCursor;
      const backlog = await takeBacklog();
      const again = await recall();
      const free = [...again, ...backlog, ...fresh].filter(({ requestId }) => !inFlight.has(requestId));
      candidates.see(free, now());
      unsaved ??= [...walks.map(({ cursor }) => cursor), liveAt];
      return candidates.list().filter(({ record }) => !inFlight.has(record.requestId));
    },
    dropClaimed: stillPending,
    hasMore: () => unread.length > 0 || (walks.length > 0 && !isStuck),
  };
}
