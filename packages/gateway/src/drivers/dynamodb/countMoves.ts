import type { RequestStatus } from '@prism-gateway/protocol';
import { bucketOf, HOUR_MS, MINUTE_MS } from '../../ports/adminStore.ts';
import type { Release, RequestStore, StoredRequest, Transition } from '../../ports/requestStore.ts';

/** Numbers to add, by the item of the stats and the name of the count in it. */
export type Additions = ReadonlyMap<string, ReadonlyMap<string, number>>;

const DAY_MS = 24 * HOUR_MS;

/** Items that hold the stats. Activity has one an hour, by minutes, and one a day, by hours. */
export const statsKeys = {
  chains: 'stats#chains',
  relayers: 'stats#relayers',
  hour: (ms: number) => `stats#hour#${Math.floor(ms / HOUR_MS)}`,
  day: (ms: number) => `stats#day#${Math.floor(ms / DAY_MS)}`,
} as const;

/** The counts of a part of time or of a relayer, in one letter each: names are paid for with every read. */
export const letters = { posts: 'p', claims: 'c', success: 's', failed: 'f' } as const;

/** Whether a name is that of a time, of which the latest counts, and not of a number to add. */
export const isTime = (name: string) => name.endsWith(' t');

/** What a process has counted and not yet written. */
export interface MoveCounter {
  /** Takes what has been counted; whoever cannot write it gives it back. */
  take(): Additions;
  giveBack(additions: Additions): void;
}

function createTally() {
  let counts = new Map<string, Map<string, number>>();
  function add(item: string, name: string, by: number): void {
    const names = counts.get(item) ?? new Map<string, number>();
    const before = names.get(name) ?? 0;
    counts.set(item, names.set(name, isTime(name) ? Math.max(before, by) : before + by));
  }
  return {
    add,
    addActivity(kind: keyof typeof letters, atMs: number): void {
      add(statsKeys.hour(atMs), `${Math.floor((atMs % HOUR_MS) / MINUTE_MS)}${letters[kind]}`, 1);
      add(statsKeys.day(atMs), `${Math.floor((atMs % DAY_MS) / HOUR_MS)}${letters[kind]}`, 1);
    },
    addRelayer(address: string, name: string, by: number): void {
      add(statsKeys.relayers, `${address.toLowerCase()} ${name}`, by);
    },
    take(): Additions {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    giveBack(additions: Additions): void {
      for (const [item, names] of additions) for (const [name, by] of names) add(item, name, by);
    },
  };
}

type Tally = ReturnType<typeof createTally>;

/** What a write says of a record: fields may be missing where an answer had no room for it. */
interface Outcome {
  readonly outcome: string;
  readonly record?: StoredRequest;
}

const NOTHING: Outcome = { outcome: 'missing' };

/** Who moves, and when, in milliseconds since the epoch. */
interface Mover {
  readonly relayer: string;
  readonly now: number;
}

function createNotes({ add, addActivity, addRelayer }: Tally) {
  function moveChain(record: StoredRequest | undefined, from: RequestStatus | undefined, to: RequestStatus): void {
    if (record === undefined) return;
    if (from !== undefined) add(statsKeys.chains, `${from} ${record.chainName}`, -1);
    add(statsKeys.chains, `${to} ${record.chainName}`, 1);
  }
  return {
    noteCreate(record: StoredRequest): void {
      addActivity('posts', record.createdAt);
      moveChain(record, undefined, 'pending');
    },
    noteClaim({ relayer, now }: Mover, { outcome, record }: Outcome): void {
      if (outcome === 'conflict') addRelayer(relayer, 'x', 1);
      if (outcome !== 'moved') return;
      addActivity('claims', now);
      addRelayer(relayer, 'o', 1);
      addRelayer(relayer, 't', now);
      moveChain(record, 'pending', 'processing');
    },
    noteReport({ relayer, now }: Mover, { outcome, record }: Outcome): void {
      if (outcome !== 'moved' || record === undefined) return;
      const { status, claimedAt = now } = record;
      if (status !== 'success' && status !== 'failed') return;
      addActivity(status, now);
      addRelayer(relayer, 'o', -1);
      addRelayer(relayer, letters[status], 1);
      addRelayer(relayer, `h${bucketOf(now - claimedAt)}`, 1);
      addRelayer(relayer, 't', now);
      moveChain(record, 'processing', status);
    },
    noteRelease({ relayer }: Mover, { outcome, record }: Outcome): void {
      if (outcome !== 'moved') return;
      addRelayer(relayer, 'o', -1);
      moveChain(record, 'processing', 'pending');
    },
  };
}

/** A store whose moves are counted. */
export interface CountedMoves {
  readonly requests: RequestStore;
  readonly counter: MoveCounter;
  /** Counts a release that no call has asked for by its id. */
  readonly noteRelease: (release: Release, outcome: Transition) => void;
}

/**
 * Counts what goes through a store. DynamoDB knows no sums: a process counts what it has moved itself, and adds it to the stats' items
 * now and then.
 *
 * @param store - the queue's records
 * @param written - called after each write, and awaited before its answer
 */
export function countMoves(store: RequestStore, written: () => Promise<void>): CountedMoves {
  const tally = createTally();
  const notes = createNotes(tally);
  async function counted<T>(writing: Promise<T>, note: (result: T) => void): Promise<T> {
    const result = await writing;
    note(result);
    await written();
    return result;
  }
  const requests: RequestStore = {
    ...store,
    create: (record, ...rest) =>
      counted(store.create(record, ...rest), ({ outcome }) => {
        if (outcome === 'created') notes.noteCreate(record);
      }),
    claim: (claim) => counted(store.claim(claim), (outcome) => notes.noteClaim(claim, outcome)),
    claimAll: (claims, ...rest) =>
      counted(store.claimAll(claims, ...rest), (outcomes) => {
        for (const [index, claim] of claims.entries()) notes.noteClaim(claim, outcomes[index] ?? NOTHING);
      }),
    claimOldest: (claim) =>
      counted(store.claimOldest(claim), (records) => {
        for (const record of records) notes.noteClaim(claim, { outcome: 'moved', record });
      }),
    report: (report) => counted(store.report(report), (outcome) => notes.noteReport(report, outcome)),
    reportAll: (reports, ...rest) =>
      counted(store.reportAll(reports, ...rest), (outcomes) => {
        for (const [index, report] of reports.entries()) notes.noteReport(report, outcomes[index] ?? NOTHING);
      }),
    release: (release) => counted(store.release(release), (outcome) => notes.noteRelease(release, outcome)),
    // Each of its releases is noted by the store.
    releaseAll: (all) => counted(store.releaseAll(all), () => {}),
  };
  return { requests, counter: { take: tally.take, giveBack: tally.giveBack }, noteRelease: notes.noteRelease };
}
