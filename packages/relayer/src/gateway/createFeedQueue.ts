import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import type { Events } from '../events/events.ts';
import type { Journal } from '../journal/openJournal.ts';
import { type Candidate, type Candidates, firstEvaluation } from '../lifecycle/candidates.ts';
import type { InFlight } from '../lifecycle/inFlight.ts';
import { createBacklog } from './createBacklog.ts';
import { createLiveFeed } from './createLiveFeed.ts';
import type { FeedPage, QueueCalls, RequestGateway } from './requestGateway.ts';
import { runLimited } from './runLimited.ts';

/** The pending requests of one chain. */
export interface PendingQueue {
  /**
   * Looks for what is new, and remembers it.
   *
   * @returns what may be evaluated or claimed now
   * @throws GatewayError
   */
  look(): Promise<readonly Candidate[]>;
  /**
   * Looks again at requests that are about to be claimed, if others may have claimed them since.
   *
   * @returns those that are still pending, as far as can be seen
   * @throws GatewayError
   */
  dropClaimed<T extends Candidate>(claimable: readonly T[]): Promise<readonly T[]>;
  /** Resolves as soon as there is something that no look has shown: at once if there is. */
  nextUpdate(): Promise<void>;
  /** Whether there is more to be looked at now, without a pause. */
  hasMore(): boolean;
}

/** Most requests that are kept in memory. */
const MAX_CANDIDATES = 4000;
/** Most requests of the backlog that are looked at beside new ones. */
const MAX_BACKLOG = 100;
/** Most requests that a look reads again by their ids, and how many at once. */
const MAX_RECALLED = 100;
const MAX_CALLS = 8;
/** Most looks at what is new, or can be claimed, alone: then comes all the rest, which is to be starved by nobody. */
const MAX_URGENT = 4;
/** A request that was seen longer ago is read again before a claim, in milliseconds: of ten relayers nine are late by then. */
const STALE_MS = 50;

/** The parts of a queue. */
export interface QueueParts {
  readonly calls: QueueCalls;
  readonly gateway: RequestGateway;
  /** Called when the gateway answers again that did not answer. */
  readonly gatewayReturns: Set<() => void>;
  readonly journal: Journal;
  readonly candidates: Candidates;
  readonly inFlight: InFlight;
  readonly events: Events;
  /** Price of a unit of gas, in wei. */
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
export function createFeedQueue(parts: QueueParts, first: FeedPage): PendingQueue {
  const { calls, gateway, journal, candidates, inFlight, events, wake, now, random, signal } = parts;
  const backlog = createBacklog({ calls, journal, events, signal });
  /** Looks at what is new alone since the last look at everything. */
  let urgentLooks = 0;
  /** Saved once all that they have shown is evaluated. */
  let unsaved: readonly string[] | undefined;

  const countReady = () => candidates.countReasons().get('ready') ?? 0;
  const countUnevaluated = () => candidates.countReasons().get('seen') ?? 0;

  function saveCursors(): void {
    if (unsaved === undefined || countUnevaluated() > 0) return;
    journal.saveCursors(unsaved);
    unsaved = undefined;
  }

  // From here on a restart knows where to go on, whatever it has evaluated till then.
  unsaved = backlog.mark(first.cursor);
  saveCursors();
  // A gateway that was away may have come back from a backup: what was reported since then is pending again, behind every cursor, and so is
  // what is posted until it has made up for what it lost.
  function walkAgain(): void {
    backlog.walkAgain();
    wake();
  }
  function onRestarted(): void {
    parts.gatewayReturns.forEach((listener) => {
      listener();
    });
  }
  const live = createLiveFeed(
    { calls, events, wake, onLost: backlog.restart, onBegun: walkAgain, onRestarted, random, signal },
    first,
  );
  parts.gatewayReturns.add(() => {
    live.beginAnew();
    walkAgain();
  });

  /** By what cannot be known now, something is looked at later, and nothing is held up. */
  function reportFault(error: unknown): undefined {
    if (isGatewayError(error)) events.emit({ type: 'fault', where: 'gateway' });
    else if (error instanceof ChainError) events.emit({ type: 'fault', where: 'chain' });
    else throw error;
  }

  /** Reads again what was evaluated once and whose time has come: from the journal it knows the ids alone. */
  async function recall(): Promise<readonly RequestRecord[]> {
    const isFull = live.hasArrivals() || candidates.size > MAX_CANDIDATES / 2;
    const gasPrice = journal.waitsForPrice() ? await parts.gasPrice().catch(reportFault) : undefined;
    const isKnown = (id: string) => candidates.has(id) || inFlight.has(id);
    const records: RequestRecord[] = [];
    await runLimited({
      list: journal.recall({ nowMs: now(), gasPrice, limit: MAX_RECALLED, isFull, isKnown }),
      limit: MAX_CALLS,
      async act(id) {
        const record = await gateway.read(id);
        if (record?.status === 'pending') records.push(record);
        else journal.forgetVerdict(id);
      },
    }).catch(reportFault);
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
    for (const id of gone) {
      candidates.forget(id);
      journal.forgetVerdict(id);
    }
    return claimable.filter(({ record }) => !gone.has(record.requestId));
  }

  /** Forgets what need not be in memory; the journal has it looked at again. What was not evaluated at all is read again as soon as there is room. */
  function shed(): void {
    const nowMs = now();
    const verdict = { kind: 'leave', reason: 'nonceUnknown' } as const;
    candidates.shed({ max: MAX_CANDIDATES, nowMs }, (unevaluated) =>
      journal.recordVerdicts(unevaluated.map(({ record, wait }) => firstEvaluation({ record, verdict, wait, nowMs }))),
    );
  }

  const isFree = ({ requestId }: RequestRecord) => !inFlight.has(requestId);

  /** New requests, which are evaluated and claimed by themselves. */
  function lookAtNew(): readonly Candidate[] {
    candidates.see(live.take().filter(isFree), now());
    return candidates.list().filter(({ record, verdict }) => verdict?.kind !== 'leave' && isFree(record));
  }

  async function lookAtAll(): Promise<readonly Candidate[]> {
    saveCursors();
    shed();
    const liveAt = live.cursor();
    const old = countUnevaluated() > MAX_BACKLOG ? [] : await backlog.take();
    const taken = [...old, ...live.take()].filter(isFree);
    // At once: neither feed shows it again if what follows fails.
    candidates.see(taken, now());
    unsaved ??= backlog.mark(liveAt);
    const again = await recall();
    // The newest last.
    const rest = taken.filter(({ requestId }) => candidates.has(requestId));
    candidates.see([...again.filter(isFree), ...rest], now());
    return candidates.list().filter(({ record }) => isFree(record));
  }

  return {
    async look() {
      const isUrgent = urgentLooks < MAX_URGENT && (live.hasArrivals() || countReady() > 0);
      urgentLooks = isUrgent ? urgentLooks + 1 : 0;
      return isUrgent ? lookAtNew() : await lookAtAll();
    },
    dropClaimed: stillPending,
    nextUpdate: live.nextUpdate,
    hasMore: () => live.hasArrivals() || backlog.hasMore(),
  };
}

/** Makes the queue of a chain, which follows the gateway's feed. The gateway is asked at the first look. */
export function createQueue(parts: QueueParts): PendingQueue {
  let queue: PendingQueue | undefined;
  async function open(): Promise<PendingQueue> {
    const first = await parts.calls.feed({ from: 'now', wait: 0 });
    parts.events.emit({ type: 'feed-followed' });
    return createFeedQueue(parts, first);
  }
  return {
    async look() {
      queue ??= await open();
      return await queue.look();
    },
    dropClaimed: async (claimable) => (await queue?.dropClaimed(claimable)) ?? claimable,
    nextUpdate: async () => await queue?.nextUpdate(),
    hasMore: () => queue?.hasMore() ?? false,
  };
}
