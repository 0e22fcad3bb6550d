import { pause } from '@prism-gateway/runtime';
import type { Deliveries } from '../webhookRegister.ts';
import type { Shard } from './createStreamApi.ts';
import {
  createShardLeases,
  type FollowContext,
  followShard,
  type HeldLease,
  type Hints,
  type ReadPauses,
  type ShardLeases,
  type StoredLease,
} from './followShard.ts';

/** Wakes up whoever waits. */
function createBell() {
  const waiting = new Set<() => void>();
  return {
    ring(): void {
      for (const wake of [...waiting]) wake();
    },
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        signal.addEventListener('abort', wake);
        waiting.add(wake);
      });
    },
  };
}

/** Hints of one process: that it has moved something, and that it may look for shards. */
interface FollowerHints extends Hints {
  hint(): void;
  look(): void;
  waitForLook(ms: number, signal: AbortSignal): Promise<void>;
}

/** Makes them. */
function createHints(): FollowerHints {
  const [moves, looks] = [createBell(), createBell()];
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    lastAt: () => lastAt,
    wait: moves.wait,
    hint() {
      lastAt = performance.now();
      moves.ring();
    },
    look: looks.ring,
    waitForLook: looks.wait,
  };
}

/** How the work is shared, in milliseconds. */
interface FollowerPace extends ReadPauses {
  /** How often it is looked which shards nobody follows. */
  readonly lookMs: number;
  /** How often a holder beats. */
  readonly beatMs: number;
  /** A lease that nobody has beaten for so long is taken. */
  readonly leaseMs: number;
}

const USUAL_PACE: FollowerPace = {
  ...{ idleMs: 1000, busyMs: 200, leastMs: 20, firstMs: 100, maxMs: 10_000 },
  ...{ lookMs: 2500, beatMs: 2500, leaseMs: 10_000 },
};

interface FollowerContext extends Pick<FollowContext, 'api' | 'record' | 'logger'> {
  /** Where the leases are. */
  readonly deliveries: Deliveries;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A holder's name that no other has. */
  readonly newHolder: () => string;
  readonly pace?: FollowerPace;
}

/** Follows the stream of a table together with all other processes that do. */
export interface StreamFollower {
  /** Has the stream read at once: this process has moved something. */
  hint(): void;
  /** Gives back what it follows. */
  close(): Promise<void>;
}

/** Which leases have not been beaten for too long, by this process's own clock. */
function createLeaseWatch(leaseMs: number) {
  const seen = new Map<string, { readonly beats: number; readonly at: number }>();
  return {
    isFree({ shardId, beats, holder }: StoredLease): boolean {
      const known = seen.get(shardId);
      if (known?.beats !== beats) seen.set(shardId, { beats, at: performance.now() });
      if (holder === undefined) return true;
      return known?.beats === beats && performance.now() - known.at >= leaseMs;
    },
  };
}

/** Shards whose parent is recorded, so that nothing of an item is told before what came earlier. */
function findReady(shards: readonly Shard[], leases: ReadonlyMap<string, StoredLease>): Shard[] {
  const kept = new Set(shards.map(({ shardId }) => shardId));
  const isEnded = (shardId: string) => leases.get(shardId)?.isEnded === true;
  return shards.filter(
    ({ shardId, parentId }) =>
      !isEnded(shardId) && (parentId === undefined || !kept.has(parentId) || isEnded(parentId)),
  );
}

/**
 * Starts to follow a stream. At each look a process takes half of what nobody follows, so that several share the shards.
 *
 * @see docs/specification.md WEBHOOK-10
 */
export function startStreamFollower(context: FollowerContext): StreamFollower {
  const { api, deliveries, now, newHolder, logger, pace = USUAL_PACE } = context;
  const closing = new AbortController();
  const running = new Map<string, Promise<void>>();
  const hints = createHints();
  const watch = createLeaseWatch(pace.leaseMs);
  let fault: string | undefined;

  async function beat(leases: ShardLeases, lease: HeldLease, lost: AbortController): Promise<void> {
    while (await pause(pace.beatMs, lost.signal)) {
      // While the table does not answer nobody can take it either.
      if (!(await leases.beat(lease).catch(() => true))) lost.abort();
    }
  }

  async function follow(leases: ShardLeases, lease: HeldLease, ofStream: string): Promise<void> {
    const lost = new AbortController();
    const beating = beat(leases, lease, lost);
    const signal = AbortSignal.any([closing.signal, lost.signal]);
    logger.info({ shard: lease.shardId }, 'follows the stream of moves');
    // What cannot be given back is taken once its time is up.
    await followShard({ ...context, leases, stream: ofStream, hints, pauses: pace }, lease, signal).catch(() => {});
    lost.abort();
    await beating;
  }

  async function takeSome(ofStream: string): Promise<void> {
    const leases = createShardLeases({ deliveries, stream: ofStream, now });
    const [shards, stored] = await Promise.all([api.listShards(ofStream), leases.list()]);
    const known = new Map(stored.map((lease) => [lease.shardId, lease]));
    const nameOf = (shardId: string) => `${ofStream} ${shardId}`;
    const free = findReady(shards, known).filter(({ shardId }) => {
      const lease = known.get(shardId);
      return (lease === undefined || watch.isFree(lease)) && !running.has(nameOf(shardId));
    });
    for (const { shardId } of free.slice(0, Math.ceil(free.length / 2))) {
      const lease = await leases.take(shardId, newHolder(), known.get(shardId));
      if (lease === undefined) continue;
      const run = follow(leases, lease, ofStream).finally(() => {
        running.delete(nameOf(shardId));
        // Its children can be followed now.
        hints.look();
      });
      running.set(nameOf(shardId), run);
    }
  }

  async function look(): Promise<void> {
    try {
      // Anew each time: a stream that was turned off and on again has another name.
      const stream = await api.find();
      if (stream === undefined) throw new Error('the table has no stream');
      await takeSome(stream);
      fault = undefined;
    } catch (error) {
      const why = error instanceof Error ? String(error.cause ?? error) : String(error);
      if (why !== fault) logger.warn({ code: 'WEBHOOK_STREAM', why }, 'the stream of moves cannot be followed');
      fault = why;
    }
  }

  async function lookOn(): Promise<void> {
    while (!closing.signal.aborted) {
      await look();
      await hints.waitForLook(pace.lookMs, closing.signal);
    }
  }

  const looking = lookOn();
  return {
    hint: hints.hint,
    async close() {
      closing.abort();
      await looking;
      await Promise.all(running.values());
    },
  };
}
