import type { RequestRecord } from '@prism-gateway/protocol';
import { createBackOff } from '@prism-gateway/runtime';
import { GatewayError, isGatewayError } from '@prism-gateway/sdk';
import type { Journal } from '../journal/openJournal.ts';
import type { Candidate, Candidates } from '../lifecycle/createCandidates.ts';
import type { ChainNotes } from '../lifecycle/createChainNotes.ts';
import type { InFlight } from '../lifecycle/createInFlight.ts';
import { runLimited } from '../lifecycle/runLimited.ts';
import { createBacklog } from './createBacklog.ts';
import { type FeedPage, pendingOf, type QueueCalls } from './createQueueCalls.ts';
import type { PendingQueue } from './pendingQueue.ts';
import type { RequestGateway } from './requestGateway.ts';

/** Most requests that are kept in memory. */
const MAX_CANDIDATES = 4000;
/** Most requests of the backlog that are looked at beside new ones. */
const MAX_BACKLOG = 100;
/** Most requests that a look reads again by their ids, and how many at once. */
const MAX_RECALLED = 20;
const MAX_CALLS = 8;
/** Most looks at what is new, or can be claimed, alone: then comes all the rest, which is to be starved by nobody. */
const MAX_URGENT = 4;
/** A request that was seen longer ago is read again before a claim, in milliseconds: of ten relayers nine are late by then. */
const STALE_MS = 50;
/** What is forgotten from memory while it waits is looked at again after this, in milliseconds, at the earliest. */
const SHED_PAUSE_MS = 600_000;

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

/**
 * Follows the feed of a gateway: what is new is looked at first and at once; what was posted while this relayer was away is walked
 * through beside it. The head is never read again: what has been looked at is in the journal, and is read by its id when its time
 * has come.
 *
 * @param first - where the live feed begins: what came of asking whether there is one
 */
export function createFeedQueue(ports: FeedQueuePorts, first: FeedPage): PendingQueue {
  const { calls, gateway, journal, candidates, inFlight, notes, wake, now, random, signal } = ports;
  const backlog = createBacklog({ calls, journal, notes, signal });
  /** Looks at what is new alone since the last look at everything. */
  let urgentLooks = 0;
  /** Saved once all that they have shown is judged. */
  let unsaved: readonly string[] | undefined;

  const countReady = () => candidates.countReasons().get('ready') ?? 0;
  const countUnjudged = () => candidates.countReasons().get('seen') ?? 0;

  function saveCursors(): void {
    if (unsaved === undefined || countUnjudged() > 0) return;
    journal.saveCursors(unsaved);
    unsaved = undefined;
  }

  // From here on a restart knows where to go on, whatever it has judged till then.
  unsaved = backlog.mark(first.cursor);
  saveCursors();
  const live = createLiveFeed({ calls, notes, wake, onLost: backlog.restart, random, signal }, first);
  // A gateway that was away may have come back from a backup: what was reported since then is pending again, behind every cursor.
  ports.gatewayReturns.add(() => {
    backlog.walkAgain();
    wake();
  });

  /** Reads again what was judged once and whose time has come: from the journal it knows the ids alone. */
  async function recall(): Promise<readonly RequestRecord[]> {
    if (live.hasNews() || candidates.size > MAX_CANDIDATES / 2) return [];
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

  const isFree = ({ requestId }: RequestRecord) => !inFlight.has(requestId);

  /** What is new is judged and claimed by itself. */
  function lookAtNew(): readonly Candidate[] {
    candidates.see(live.take().filter(isFree), now());
    return candidates.list().filter(({ record, verdict }) => verdict?.kind !== 'leave' && isFree(record));
  }

  async function lookAtAll(): Promise<readonly Candidate[]> {
    saveCursors();
    shed();
    const liveAt = live.cursor();
    const fresh = live.take();
    const old = countUnjudged() > MAX_BACKLOG ? [] : await backlog.take();
    const again = await recall();
    candidates.see([...again, ...old, ...fresh].filter(isFree), now());
    unsaved ??= backlog.mark(liveAt);
    return candidates.list().filter(({ record }) => isFree(record));
  }

  return {
    async look() {
      const isUrgent = urgentLooks < MAX_URGENT && (live.hasNews() || countReady() > 0);
      urgentLooks = isUrgent ? urgentLooks + 1 : 0;
      return isUrgent ? lookAtNew() : await lookAtAll();
    },
    dropClaimed: stillPending,
    news: live.news,
    hasMore: () => live.hasNews() || backlog.hasMore(),
  };
}

/** How long the gateway waits for something new, in seconds: the longest that it takes. */
const WAIT_SECONDS = 25;
/** Most new requests that wait to be looked at. */
const MAX_UNREAD = 500;
/** Pauses while the feed cannot be read, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 10_000 };

/** What becomes pending, as it does. */
interface LiveFeed {
  /** Where the feed is read from next. */
  cursor(): string;
  /** Whether there is something that was not taken. */
  hasNews(): boolean;
  /** Resolves as soon as there is. */
  news(): Promise<void>;
  take(): readonly RequestRecord[];
}

/**
 * Follows a feed until the signal: each call waits at the gateway for what is new. While as much as a look goes through has not been
 * taken, no more is read: nobody makes this relayer hold more than its bounds.
 */
function createLiveFeed(
  ports: {
    readonly calls: Pick<QueueCalls, 'feed'>;
    readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
    readonly wake: () => void;
    /** Called where the gateway does not know the cursor any more: the feed goes on from now, and something lies between. */
    readonly onLost: () => void;
    readonly random: () => number;
    readonly signal: AbortSignal;
  },
  first: FeedPage,
): LiveFeed {
  const { calls, notes, wake, onLost, random, signal } = ports;
  let unread = pendingOf(first.items);
  let { cursor } = first;
  let drained = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();

  function add(items: readonly RequestRecord[]): void {
    const fresh = pendingOf(items);
    if (fresh.length === 0) return;
    unread.push(...fresh);
    arrived.resolve();
    wake();
  }

  async function noteFault(error: unknown): Promise<void> {
    notes.fault('gateway');
    notes.log.warn({ code: error instanceof GatewayError ? error.code : 'UNKNOWN' }, 'the feed cannot be read');
    if (!(error instanceof GatewayError)) throw error;
    if (!isGatewayError(error, 'VALIDATION_FAILED')) return;
    onLost();
    cursor = (await calls.feed({ from: 'now', wait: 0 }).catch(() => ({ cursor }))).cursor;
  }

  async function follow(): Promise<void> {
    const backOff = createBackOff({ ...PAUSES, random, signal });
    let wait = WAIT_SECONDS;
    while (!signal.aborted) {
      while (unread.length >= MAX_UNREAD && !signal.aborted) await drained.promise;
      try {
        const page = await calls.feed({ cursor, wait });
        wait = WAIT_SECONDS;
        cursor = page.cursor;
        add(page.items);
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

  // It ends with the signal; a defect is told like any other.
  follow().catch((error: unknown) => notes.log.error({ err: error }, 'following the feed failed'));
  return {
    cursor: () => cursor,
    hasNews: () => unread.length > 0,
    news: () => (unread.length > 0 ? Promise.resolve() : arrived.promise),
    take() {
      const taken = unread;
      unread = [];
      drained.resolve();
      [drained, arrived] = [Promise.withResolvers(), Promise.withResolvers()];
      return taken;
    },
  };
}
