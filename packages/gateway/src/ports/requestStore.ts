import type { Action, ListFilters, RequestStatus } from '@prism-gateway/protocol';
import type { Awaitable } from './awaitable.ts';

/** A request as a store keeps it. Times are milliseconds since the epoch. */
export interface StoredRequest {
  readonly requestId: string;
  readonly chainName: string;
  readonly action: Action;
  /** As given; compared without regard to case. */
  readonly signer: string;
  readonly status: RequestStatus;
  /** The params as JSON text: the queue never looks inside. */
  readonly paramsJson: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly txHash?: string;
  readonly errorMessage?: string;
  /** Address of the relayer that holds or held the claim, as it gave it. */
  readonly claimedBy?: string;
  readonly claimedAt?: number;
}

/** A request without its params. */
export type RequestHead = Omit<StoredRequest, 'paramsJson'>;

/** The facts about a new record that are not in it. */
export interface Submission {
  /** Of `submissionKeyOf`. */
  readonly key: string;
  /** Whether a record of the same key that has not failed is the answer instead. */
  readonly once: boolean;
  /** Whose pending bytes it counts among: the peer, and the network that the peer is in. */
  readonly holders?: readonly string[];
}

/** The result for a new record: stored, with the record if another call has stored it for this one; or not, for another of the same submission. */
export type Creation =
  | { readonly outcome: 'created'; readonly record?: StoredRequest }
  | { readonly outcome: 'exists'; readonly record: StoredRequest };

/** All given filters must hold. */
export interface RequestFilter extends ListFilters {
  /** The transaction that was reported; compared without regard to case. */
  readonly txHash?: string | undefined;
}

export interface ListQuery {
  readonly filter: RequestFilter;
  /** By `createdAt`, then `requestId`. */
  readonly order: 'asc' | 'desc';
  /** Earliest `createdAt`. */
  readonly from?: number | undefined;
  /** All are older than this. */
  readonly to?: number | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Most bytes of params in a page, in which the first record has its place in any case; absent: no bound. */
  readonly maxParamsBytes?: number;
  /** `next` of the page before; absent for the first page. */
  readonly after?: string;
  /** Among the pending records are those whose claim was made at or before this time; absent: none of them. */
  readonly leaseExpiredAt?: number;
}

export interface ListPage {
  /**
   * At most `limit`; fewer, even none, is possible before the last page when filters are combined, and fewer if params are
   * large.
   */
  readonly items: readonly StoredRequest[];
  /** The store's own position text, or null after the last record. */
  readonly next: string | null;
}

export interface Claim {
  readonly requestId: string;
  readonly relayer: string;
  /** Made for one HTTP call: a repetition with the same id by the same call is answered as the first was. */
  readonly claimId: string;
  readonly now: number;
  /** A claim made at or before this time may be taken over; absent: never. */
  readonly leaseExpiredAt?: number;
  /** A claim of the relayer's own may be taken over by itself only if it was made at or before this time; absent: never. */
  readonly ownLeaseExpiredAt?: number;
  /**
   * A request that the relayer claimed first at or before this time, and has not been without for a lease since, it neither renews nor
   * claims again after a release. Absent: no bound; it needs `leaseExpiredAt`.
   */
  readonly firstClaimedAfter?: number;
  /** Most requests that the relayer may hold; one that it holds already needs no room. Absent: no bound. */
  readonly maxOpenClaims?: number;
}

/** The result for one request of a batch: its record, or the status of one that was left as it stands; `full` as in `ClaimTransition`. */
export type BatchTransition =
  | { readonly outcome: 'moved'; readonly record: RequestHead }
  | { readonly outcome: 'conflict' | 'full'; readonly status: RequestStatus }
  | { readonly outcome: 'missing' };

/** A claim that its owner gives back. */
export interface Release {
  readonly requestId: string;
  readonly relayer: string;
  /** Made for one HTTP call, as `Claim.claimId`. */
  readonly releaseId: string;
  readonly now: number;
  /** When the claim was made that is meant; absent: whichever stands. */
  readonly claimedAt?: number;
}

export interface Report {
  readonly requestId: string;
  readonly relayer: string;
  /** Made for one HTTP call, as `Claim.claimId`. */
  readonly reportId: string;
  readonly now: number;
  readonly outcome:
    | { readonly status: 'success'; readonly txHash: string }
    | { readonly status: 'failed'; readonly errorMessage: string };
}

/** The result of a conditional write. `record` is the record after it (moved) or as it stands unchanged (conflict). */
export type Transition =
  | { readonly outcome: 'moved'; readonly record: StoredRequest }
  | { readonly outcome: 'conflict'; readonly record: StoredRequest }
  | { readonly outcome: 'missing' };

/** The result of a claim; `full`: it was to be had, and the relayer holds as many as it may. */
export type ClaimTransition = Transition | { readonly outcome: 'full'; readonly record: StoredRequest };

/** All that a relayer holds, given back by an administrator. */
export interface ReleaseAll {
  readonly relayer: string;
  readonly now: number;
  /** Most records of this call. */
  readonly limit: number;
}

export interface FeedQuery {
  readonly chainName: string;
  /** `next` of the page before. */
  readonly after?: string;
  /** Where to begin without `after`: with the oldest pending record, or with what becomes pending from here on. */
  readonly from: 'oldest' | 'now';
  /** 1 to 100. */
  readonly limit: number;
  /** As in `ListQuery`. */
  readonly maxParamsBytes: number;
  /** A claim made at or before this time has lapsed; absent: none ever does. */
  readonly leaseExpiredAt?: number;
  readonly now: number;
}

export interface FeedPage {
  /** Pending records, and `processing` ones whose claim has lapsed. */
  readonly items: readonly StoredRequest[];
  /** The store's own position text, also after the last record: it is never at its end. */
  readonly next: string;
  /** `claimedAt` of the claim behind this position that lapses first; absent if there is none, or the store does not know. */
  readonly nextClaimAt?: number;
}

export interface RequestStats {
  /** Records by status; absent if the store cannot know cheaply. */
  readonly countByStatus?: Readonly<Record<RequestStatus, number>>;
  /** `createdAt` of the oldest pending record; absent when none is pending. */
  readonly oldestPendingAt?: number;
}

/**
 * Port: the queue's records. Every write that resolved survives `kill -9` and power loss.
 *
 * States and who moves them, each by one conditional write:
 *
 *     (none) --create--> pending --claim--> processing --report--> success | failed
 *                                           processing --claim (lease expired)--> processing
 *                                           processing --claimAll (its owner)--> processing
 *                                           processing --release (its owner)--> pending
 *                                           processing --releaseAll (an administrator)--> pending
 *                                               failed --reopen (an administrator)--> pending
 *
 * Ended records older than the store's retention, and pending ones that nobody has claimed for longer than its own, are removed.
 *
 * Every method throws `DependencyUnavailableError` when the store does not answer; nothing else is thrown for good input.
 *
 * @see docs/specification.md STORE-1, STATE-1
 */
export interface RequestStore {
  /**
   * Stores a new `pending` record. Repeating it with the same `requestId` changes nothing, and is answered as the first time.
   *
   * @param submission - absent: it is not found by a later submission
   */
  create(record: StoredRequest, submission?: Submission): Promise<Creation>;
  /** @param requestId UUID in any letter case */
  get(requestId: string): Awaitable<StoredRequest | undefined>;
  /** Keyset page; its cost does not grow with the backlog. @throws InvalidCursorError for an `after` it did not make */
  list(query: ListQuery): Promise<ListPage>;
  /** Moves `pending` (or an expired claim) to `processing`; atomic among all rivals. */
  claim(claim: Claim): Promise<ClaimTransition>;
  /**
   * Makes up to 100 claims of one relayer, each as atomic as `claim`. A request that the relayer holds already, under a lease that has
   * not lapsed, is renewed, within `firstClaimedAfter`: it counts as moved.
   *
   * @returns one a claim, in their order
   */
  claimAll(claims: readonly Claim[]): Promise<readonly BatchTransition[]>;
  /** Moves the owner's `processing` to `success` or `failed`. */
  report(report: Report): Promise<Transition>;
  /** Makes up to 100 reports of one relayer, each as atomic as `report`. @returns one a report, in their order */
  reportAll(reports: readonly Report[]): Promise<readonly BatchTransition[]>;
  /** Moves the owner's `processing` back to `pending`; nothing of the claim stays. */
  release(release: Release): Promise<Transition>;
  /** Moves what a relayer reported `failed` back to `pending`; nothing of claim and report stays. */
  reopen(reopening: Release): Promise<Transition>;
  /**
   * Moves what a relayer holds back to `pending`, in small steps that hold nobody up.
   *
   * @returns how many; as many as `limit` if there may be more
   */
  releaseAll(release: ReleaseAll): Promise<number>;
  /**
   * Reads what has become pending in a chain after a position, in the order in which it did: new, released, or claimed and lapsed. At
   * least once; a record that stays pending is never skipped, however writes overlap with reads.
   *
   * @throws InvalidCursorError for an `after` it did not make
   */
  feed(query: FeedQuery): Promise<FeedPage>;
  stats(): Promise<RequestStats>;
  /**
   * Reads how many bytes the pending requests of some holders take, those of all for the holder ''. Absent: the store has no disk to fill.
   *
   * @returns one a holder, in their order
   */
  pendingBytes?(holders: readonly string[]): Awaitable<readonly number[]>;
}

/** Bytes of a record in a store beside its params, about. */
export const RECORD_BYTES = 500;
