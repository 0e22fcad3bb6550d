import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestStatus } from '@prism-gateway/protocol/states';

/** How long records are kept, in days; 0: for ever. */
export interface RetentionOptions {
  /** Ended ones, from their end on. */
  readonly requestRetentionDays: number;
  /** Pending ones that nobody has claimed, from their beginning on. */
  readonly pendingRetentionDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const MS_PER_DAY = 86_400_000;

/** Pause between two sweeps, in milliseconds; one that finds nothing to do costs three look-ups. */
const SWEEP_EVERY_MS = 60_000;

/** How far the clock may run ahead of the time that has passed, in milliseconds: what is removed does not come back with the right time. */
const MAX_LEAP_MS = 3_600_000;

/** Follows the clock, but into no leap: a machine that wakes up in another year removes nothing for it. */
function followClock(now: () => number): () => number {
  const start = now() - performance.now();
  return () => Math.min(now(), start + performance.now() + MAX_LEAP_MS);
}

/** Pause between two steps of a sweep, in milliseconds, in which others write. */
const STEP_PAUSE_MS = 20;

/** A place in a walk over the records of one status. */
export interface WalkPosition {
  readonly createdAt: number;
  readonly requestId: string;
}

/** Before every record. */
export const WALK_START: WalkPosition = { createdAt: -1, requestId: '' };

/** A part of a walk over the records of one status that removes the old ones; a claimed one is never removed. */
export interface ExpiryStep {
  readonly status: Exclude<RequestStatus, 'processing'>;
  /** Ended ones that ended at or before this time go, and pending ones that were stored then and never claimed. */
  readonly before: number;
  readonly after: WalkPosition;
}

/** How many records a step has removed, and where the next one begins; without `next` the walk is at its end. */
export interface ExpiredStep {
  readonly removed: number;
  readonly next?: WalkPosition;
}

/** The steps of the removal, each in a commit of its own. */
export interface RetentionSteps {
  expire(step: ExpiryStep): Promise<ExpiredStep>;
  /** Gives some space back. @returns how much is left to give; absent: the database does so itself */
  giveBack?(): Promise<number>;
}

/** Removes old records in the background. */
export interface Retention {
  /** Removes all that is old by now, and gives the space back. @throws DependencyUnavailableError, AbortError once it is closed */
  sweep(): Promise<void>;
  /** Ends a sweep under way. */
  close(): Promise<void>;
}

type Removed = ExpiryStep['status'];

/**
 * Makes the removal of old records: small steps, each one order among those of others, with pauses between them.
 *
 * @see docs/specification.md STORE-10
 */
export function createRetention({ expire, giveBack }: RetentionSteps, options: RetentionOptions): Retention {
  const { requestRetentionDays, pendingRetentionDays } = options;
  const now = followClock(options.now);
  const days: Readonly<Record<Removed, number>> = {
    success: requestRetentionDays,
    failed: requestRetentionDays,
    pending: pendingRetentionDays,
  };
  const closing = new AbortController();
  const { signal } = closing;

  async function removeOld(status: Removed): Promise<void> {
    const before = now() - days[status] * MS_PER_DAY;
    for (let after: WalkPosition | undefined = WALK_START; after !== undefined; ) {
      const step: ExpiredStep = await expire({ status, before, after });
      after = step.next;
      if (after !== undefined) await sleep(STEP_PAUSE_MS, undefined, { signal });
    }
  }

  async function giveSpaceBack(): Promise<void> {
    while (giveBack !== undefined && (await giveBack()) > 0) await sleep(STEP_PAUSE_MS, undefined, { signal });
  }

  async function sweep(): Promise<void> {
    for (const status of ['success', 'failed', 'pending'] as const) if (days[status] > 0) await removeOld(status);
    await giveSpaceBack();
  }

  async function sweepForEver(): Promise<void> {
    for (;;) {
      await sleep(SWEEP_EVERY_MS, undefined, { signal, ref: false });
      // A store that does not answer is reported by its callers; the next sweep goes on from the beginning.
      await sweep().catch(() => undefined);
    }
  }

  const isOn = requestRetentionDays > 0 || pendingRetentionDays > 0;
  const sweeping = isOn ? sweepForEver().catch(() => undefined) : Promise.resolve();
  return {
    sweep,
    async close() {
      closing.abort();
      await sweeping;
    },
  };
}
