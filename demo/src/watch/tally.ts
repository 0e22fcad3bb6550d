import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';

/** Where the requests stand. */
export interface Tally {
  readonly records: ReadonlyMap<string, RequestRecord>;
  readonly counts: Readonly<Record<RequestStatus, number>>;
  /** Of each relayer, by address in lower case: what it holds, and what it has reported. */
  readonly held: ReadonlyMap<string, number>;
  readonly reported: ReadonlyMap<string, number>;
}

/** Counts records by state and relayer. */
export function countRecords(records: ReadonlyMap<string, RequestRecord>): Tally {
  const counts = { pending: 0, processing: 0, success: 0, failed: 0 };
  const held = new Map<string, number>();
  const reported = new Map<string, number>();
  for (const { status, claimedBy } of records.values()) {
    counts[status]++;
    if (claimedBy === undefined) continue;
    const relayer = claimedBy.toLowerCase();
    const counter = status === 'processing' ? held : reported;
    counter.set(relayer, (counter.get(relayer) ?? 0) + 1);
  }
  return { records, counts, held, reported };
}

/** How many have ended, one way or the other. */
export function countEnded({ counts }: Tally): number {
  return counts.success + counts.failed;
}
