/**
 * The clients' knowledge of a queue: every call they sent, and every answer that came. A call without an answer may have happened or not;
 * one with an answer happened as it says, for good.
 */
import type { CreateRequestBody, RequestRecord, RequestStatus, UpdateRequestBody } from '@prism-gateway/protocol';

/** A report as it was sent. */
export type SentReport = Exclude<UpdateRequestBody, { readonly status: 'processing' }>;

/** A status that was seen, between two times of one clock in milliseconds. */
interface Sighting {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: RequestStatus;
  readonly claimedBy: string | undefined;
}

/** All that is known of one request. */
export interface Entry {
  /** A signer of its own: so a creation without an answer can be looked up. */
  readonly signer: string;
  readonly body: CreateRequestBody;
  /** Answer to the creation; absent if none came. */
  created?: RequestRecord;
  /** Addresses that asked to claim it. */
  readonly claimers: Set<string>;
  /** Addresses whose claim was answered by 200. */
  readonly owners: Set<string>;
  /** A claim was answered by 409: it was not pending any more. */
  wasRefused: boolean;
  readonly reports: { readonly relayer: string; readonly report: SentReport; readonly isAcknowledged: boolean }[];
  readonly sightings: Sighting[];
}

/** Order of the statuses: none may be followed by a smaller one. */
const RANK: Readonly<Record<RequestStatus, number>> = { pending: 0, processing: 1, success: 2, failed: 2 };

/** Starts the entry of a request that is about to be created. */
export function createEntry(body: CreateRequestBody, signer: string): Entry {
  return {
    signer,
    body,
    claimers: new Set(),
    owners: new Set(),
    wasRefused: false,
    reports: [],
    sightings: [],
  };
}

/** Notes that a record was seen in an answer to a call that began at `startedAt`. */
export function recordSighting(entry: Entry, record: RequestRecord, startedAt: number): void {
  const claimedBy = record.claimedBy?.toLowerCase();
  entry.sightings.push({ startedAt, endedAt: performance.now(), status: record.status, claimedBy });
}

/** Names two sightings that no run of the states allows: the one ended before the other began, and yet it is further. */
export function findStepBack({ sightings }: Entry): string | undefined {
  const inTime = sightings.toSorted((a, b) => a.startedAt - b.startedAt);
  for (const [i, later] of inTime.entries()) {
    for (const earlier of inTime.slice(0, i)) {
      if (earlier.endedAt > later.startedAt) continue;
      const isBack = RANK[later.status] < RANK[earlier.status];
      const isOther = RANK[earlier.status] === 2 && later.status !== earlier.status;
      const isOtherOwner = earlier.claimedBy !== undefined && later.claimedBy !== earlier.claimedBy;
      if (isBack || isOther || isOtherOwner) return `${JSON.stringify(earlier)}, then ${JSON.stringify(later)}`;
    }
  }
  return undefined;
}
