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
const MAX_BACKLOG = 100;
/** Most requests that a look reads again by their ids, and how many at once. */
const MAX_RECALLED = 20;
const MAX_CALLS = 8;
/** Stands for the oldest request among saved cursors. */
const OLDEST = '';
/** Most looks at what is new, or can be claimed, alone: then comes all the rest, which is to be starved by nobody. */
const MAX_URGENT = 4;
/** Most old cursors that are kept: the oldest one covers those between. */
const MAX_WALKS = 4;
/** A request that was seen longer ago is read again before a claim, in milliseconds: of ten relayers nine are late by then. */
const STALE_MS = 50;
/** What is forgotten from memory while it waits is looked at again after this, in milliseconds, at the earliest. */
const SHED_PAUSE_MS = 600_000;
/** Pauses while the feed cannot be read, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 10_000 };

/** What following goes through. */
export interface FeedQueuePorts {
  readonly calls: Pick<QueueCalls, 'feed'>;
  readonly gateway: Pick<RequestGateway, 'read'>;
  /** Called when the gateway answers again that did not answer. */
  readonly gatewayReturns: Pick<Set<() => void>, 'add'>;
  readonly journal: Pick<
    Journal,
    'cursors' | 'saveCursors' | 'judge' | 'recall' | 'postpone' | 'forgetVerdict' | 'get' | 'isLeft'
  >;
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
  /** It goes through what has been looked at before: what was left then is recalled when its time has come. */
  readonly isRepeated?: boolean;
}

/** What the feed gives beside them are claims that have lapsed: they are taken over by a setting of their own (RELAY-9). */
function pendingOf(items: readonly RequestRecord[]): RequestRecord[] {
  return items.filter(({ status }) => status === 'pending');
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
  let unread: RequestRecord[] = pendingOf(first.items);
  let liveCursor = first.cursor;
  let drained = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();
  const walks: Walk[] = loadWalks();
  /** The next page of the last walk: it is read while the one before is judged. */
  let next: Promise<FeedPage | undefined> | undefined;
  let isStuck = false;
  /** Looks at what is new alone since the last look at everything. */
  let urgentLooks = 0;
  /** Saved once all that they have shown is judged. */
  let unsaved: readonly (string | undefined)[] | undefined;

  function loadWalks(): Walk[] {
    const saved = journal.cursors();
    if (saved.length === 0) return [{ cursor: undefined }];
    const kept = saved.length <= MAX_WALKS ? saved : [...saved.slice(0, 1), ...saved.slice(1 - MAX_WALKS)];
    return kept.map((cursor) => (cursor === OLDEST ? { cursor: undefined, isRepeated: true } : { cursor }));
  }

  /** A gateway that was away may have come back from a backup: what was reported since then is pending again, behind every cursor. */
  function walkAgain(): void {
    const rest = walks.filter(({ cursor, isRepeated }) => cursor !== undefined && !isRepeated);
    walks.splice(0, walks.length, { cursor: undefined, isRepeated: true }, ...rest);
    next = undefined;
    wake();
  }

  function noteNews(): void {
    arrived.resolve();
    wake();
  }

  /** Waits until what has been read is looked at: nobody makes this relayer hold more than its bounds. */
  async function waitForRoom(): Promise<void> {
    while (unread.length >= MAX_UNREAD && !signal.aborted) await drained.promise;
  }

  async function follow(): Promise<void> {
    const backOff = createBackOff({ ...PAUSES, random, signal });
    let wait = WAIT_SECONDS;
    while (!signal.aborted) {
      await waitForRoom();
      try {
        const page = await calls.feed({ cursor: liveCursor, wait });
        wait = WAIT_SECONDS;
        liveCursor = page.cursor;
        const fresh = pendingOf(page.items);
        unread.push(...fresh);
        if (fresh.length > 0) noteNews();
        backOff.reset();
      } catch (error) {
        if (signal.aborted) return;
        // Whether the gateway is there again is told at once, and not after a long wait for news.
        wait = 0;
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

  const countReady = () => candidates.countReasons().get('ready') ?? 0;
  const countUnjudged = () => candidates.countReasons().get('seen') ?? 0;

  function saveCursors(): void {
    if (unsaved === undefined || countUnjudged() > 0) return;
    journal.saveCursors(unsaved.map((cursor) => cursor ?? OLDEST));
    unsaved = undefined;
  }

  async function takeBacklog(): Promise<readonly RequestRecord[]> {
    // The newest first: what was posted while this relayer was away waits for no older junk.
    const walk = walks.at(-1);
    if (walk === undefined || countUnjudged() > MAX_BACKLOG) return [];
    const page = await (next ?? readBacklog(walk));
    next = undefined;
    if (page === undefined) return [];
    walk.cursor = page.cursor;
    // A walk has ended when there is nothing behind its cursor.
    if (page.items.length === 0) walks.pop();
    else next = readBacklog(walk);
    const pending = pendingOf(page.items);
    return walk.isRepeated === true ? pending.filter(({ requestId }) => !journal.isLeft(requestId)) : pending;
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
      list: claimable.filter(({ lastSeenMs }) => now() - lastSeenMs > STALE_MS),
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

  // From here on a restart knows where to go on, whatever it has judged till then.
  unsaved = [...walks.map(({ cursor }) => cursor), first.cursor];
  saveCursors();
  ports.gatewayReturns.add(walkAgain);
  // It ends with the signal; a defect is told like any other.
  follow().catch((error: unknown) => notes.log.error({ err: error }, 'following the feed failed'));
  /** Forgets what need not be in memory; the journal has it looked at again. */
  function shed(): void {
    const nowMs = now();
    const shed = candidates.shed({ max: MAX_CANDIDATES, nowMs });
    // Whose fee is too low is read again as soon as gas costs no more than it pays: a price may be high for a moment alone.
    // What was not judged at all is read again as soon as there is room.
    const unjudged = shed.filter(({ verdict }) => verdict === undefined);
    const verdict = { kind: 'leave', reason: 'nonceUnknown', recheckAtMs: nowMs } as const;
    journal.judge(unjudged.map(({ record }) => ({ record, verdict, nowMs })));
    const isTimed = ({ verdict }: Candidate) =>
      verdict !== undefined && (verdict.kind !== 'leave' || verdict.paysAtWei === undefined);
    journal.postpone(
      shed.filter(isTimed).map(({ record }) => record.requestId),
      nowMs + SHED_PAUSE_MS,
    );
  }

  function takeUnread(): readonly RequestRecord[] {
    const taken = unread;
    unread = [];
    drained.resolve();
    [drained, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
    return taken;
  }

  const isFree = ({ requestId }: RequestRecord) => !inFlight.has(requestId);

  /** What is new is judged and claimed by itself. */
  function lookAtNew(): readonly Candidate[] {
    candidates.see(takeUnread().filter(isFree), now());
    return candidates.list().filter(({ record, verdict }) => verdict?.kind !== 'leave' && isFree(record));
  }

  async function lookAtAll(): Promise<readonly Candidate[]> {
    saveCursors();
    shed();
    const liveAt = liveCursor;
    const fresh = takeUnread();
    const backlog = await takeBacklog();
    const again = await recall();
    candidates.see([...again, ...backlog, ...fresh].filter(isFree), now());
    unsaved ??= [...walks.map(({ cursor }) => cursor), liveAt];
    return candidates.list().filter(({ record }) => isFree(record));
  }

  return {
    async look() {
      const isUrgent = urgentLooks < MAX_URGENT && (unread.length > 0 || countReady() > 0);
      urgentLooks = isUrgent ? urgentLooks + 1 : 0;
      return isUrgent ? lookAtNew() : await lookAtAll();
    },
    dropClaimed: stillPending,
    news: () => (unread.length > 0 ? Promise.resolve() : arrived.promise),
    hasMore: () => unread.length > 0 || (walks.length > 0 && !isStuck),
  };
}
