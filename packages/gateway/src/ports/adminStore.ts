import type { RequestStatus } from '@prism-gateway/protocol';

/** Requests of a chain by status. */
export interface ChainCounts extends Readonly<Record<RequestStatus, number>> {
  /** null: all chains beyond the number that are counted apart. */
  readonly chainName: string | null;
}

/** The moves of a minute or an hour. */
export interface Activity {
  /** Its begin, in milliseconds since the epoch. */
  readonly start: number;
  readonly posts: number;
  readonly claims: number;
  readonly success: number;
  readonly failed: number;
}

/** A relayer's record. Claims that it lost to rivals are `conflicts`. */
export interface RelayerStats {
  readonly address: string;
  readonly openClaims: number;
  readonly success: number;
  readonly failed: number;
  readonly conflicts: number;
  /** From claim to report, in milliseconds; absent without reports. */
  readonly medianMs?: number;
  readonly p95Ms?: number;
  /** Its last authenticated call, within a minute, in milliseconds since the epoch; absent: nobody knows of one. */
  readonly lastSeenAt?: number;
}

/** The queue as an administrator sees it. */
export interface QueueStats {
  readonly chains: readonly ChainCounts[];
  /** `createdAt`; absent if there is none. */
  readonly oldestPendingAt?: number;
  readonly oldestProcessingAt?: number;
  /** Of the last hour, oldest first; those without any activity are left out. */
  readonly minutes: readonly Activity[];
  /** Of the last week. */
  readonly hours: readonly Activity[];
  /** Last seen first. */
  readonly relayers: readonly RelayerStats[];
}

/** The result of a removal; a claimed record stays. */
export type Removal = 'removed' | 'claimed' | 'missing';

/** An administrator's act. */
export interface NotedAct {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Like `requests.release`. */
  readonly act: string;
  /** The id of the key that was used. */
  readonly keyId: string;
  /** The request or the relayer that it is done to. */
  readonly target: string;
  readonly reason?: string;
}

/** A page of acts. */
export interface ActPage {
  /** Newest first. */
  readonly items: readonly NotedAct[];
  /** Where the next page begins; null: there is none. */
  readonly next: number | null;
}

/** Of the newest acts, how many are kept at least; a refused one may have pushed out the oldest. */
export const KEPT_ACTS = 1000;

/** Port: what administrators do beside what relayers do. Throws `DependencyUnavailableError` only. */
export interface AdminStore {
  /** Its cost does not grow with the number of requests. @param now - milliseconds since the epoch */
  readStats(now: number): Promise<QueueStats>;
  /** When the oldest pending request of a chain was stored. @returns `createdAt`; undefined if none is pending */
  findOldestPending(chainName: string): Promise<number | undefined>;
  /** Removes a record for good, unless it is `processing`. */
  remove(requestId: string): Promise<Removal>;
  /** Notes that a relayer has called. @param at - milliseconds since the epoch */
  recordSeen(address: string, at: number): Promise<void>;
  /** Notes an act in the audit log. @returns its number, higher than that of any act that stands */
  recordAct(act: NotedAct): Promise<number>;
  /** Takes a noted act back that was not done. @param number - as `recordAct` returned it */
  dropAct(number: number): Promise<void>;
  /** Lists the newest acts. @param query.before - the `next` of the page before */
  listActs(query: { readonly limit: number; readonly before?: number | undefined }): Promise<ActPage>;
}

/** Most chains that are counted apart: their names come from strangers. */
export const MAX_COUNTED_CHAINS = 200;
/** Most relayers that stats list. */
export const MAX_TOLD_RELAYERS = 100;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
/** How long minutes and hours are kept, in their own number. */
export const KEPT_MINUTES = 60;
export const KEPT_HOURS = 168;

/** Buckets a factor of two: each is 19 % wider than the one before. */
const BUCKETS_A_DOUBLING = 4;

/**
 * Chooses the bucket of a duration; a histogram keeps how many there are in each.
 *
 * @param durationMs - from 0 on
 */
export function bucketOf(durationMs: number): number {
  return Math.round(Math.log2(Math.max(durationMs, 1)) * BUCKETS_A_DOUBLING);
}

/**
 * Reads a quantile of a histogram, within a tenth.
 *
 * @param histogram - how many durations are in each bucket
 * @param share - 0 to 1
 * @returns milliseconds; undefined for an empty histogram
 */
export function quantileOf(histogram: ReadonlyMap<number, number>, share: number): number | undefined {
  const buckets = [...histogram].filter(([, hits]) => hits > 0).sort(([one], [other]) => one - other);
  let left = share * buckets.reduce((sum, [, hits]) => sum + hits, 0);
  for (const [bucket, hits] of buckets) {
    left -= hits;
    if (left <= 0) return Math.round(2 ** (bucket / BUCKETS_A_DOUBLING));
  }
  return undefined;
}
