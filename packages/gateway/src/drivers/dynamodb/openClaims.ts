import { REQUEST_MOVES } from '@prism-gateway/protocol';
import { type Item, queryAll, readFields } from './items.ts';
import { type RequestTable, shardKeys } from './record.ts';
import { requestIndexes } from './tables.ts';

/** A claim that stands. */
export interface OpenClaim {
  readonly requestId: string;
  /** The relayer, as it gave its address. */
  readonly relayer: string;
  readonly chainName: string;
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
}

/** The claims that stand, as the index showed them a moment ago, with what this process has done since. */
export interface OpenClaims {
  /** @param maxAgeMs - how old the picture may be */
  read(maxAgeMs: number): Promise<ReadonlyMap<string, OpenClaim>>;
  /**
   * Keeps a place for one more claim of a relayer.
   *
   * @returns gives the place up, once the claim was noted or lost; undefined: the relayer holds as many as it may
   */
  takePlace(relayer: string, most: number): Promise<(() => void) | undefined>;
  /** Notes a claim that this process has seen won. */
  opened(claim: OpenClaim): void;
  /** Notes that a request is no longer claimed. */
  ended(requestId: string): void;
}

/** How long an index may take to show what this process knows, in milliseconds. */
const INDEX_LAG_MS = 30_000;
/** How old the picture may be for a relayer that is near its bound, and for one that holds less than half of it. */
const [NEAR_MS, FAR_MS] = [5000, 60_000];

function readClaim(item: Item): OpenClaim {
  const { claimedBy: relayer, ...claim } = readFields(item, {
    ...{ requestId: 'text', claimedBy: 'text', chainName: 'text', claimedAt: 'number' },
  });
  return { ...claim, relayer };
}

/** Claims by id, and how many each relayer has, without regard to letter case. */
function createBooks() {
  const claims = new Map<string, OpenClaim>();
  const counts = new Map<string, number>();
  const countOf = (relayer: string) => counts.get(relayer.toLowerCase()) ?? 0;
  function set(requestId: string, claim: OpenClaim | undefined): void {
    const before = claims.get(requestId);
    if (before !== undefined) counts.set(before.relayer.toLowerCase(), countOf(before.relayer) - 1);
    if (claim === undefined) {
      claims.delete(requestId);
      return;
    }
    claims.set(requestId, claim);
    counts.set(claim.relayer.toLowerCase(), countOf(claim.relayer) + 1);
  }
  return { claims, countOf, set };
}

/** A change that this process has made; undefined: the claim has ended. */
interface Change {
  readonly claim: OpenClaim | undefined;
  readonly at: number;
}

/**
 * Makes a picture of the claims that stand, read from the index of processing requests when it is asked for and too old. They are few:
 * strangers make none, and each relayer's are bounded.
 */
export function createOpenClaims(table: RequestTable): OpenClaims {
  const { now, shards } = table;
  let books = createBooks();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const changes = new Map<string, Change>();
  const places = createPlaces();

  async function refresh(): Promise<void> {
    const startedAt = now();
    const { name: index, partitionKey } = requestIndexes.status;
    const partitions = shardKeys(REQUEST_MOVES.report.from, shards).map((key) =>
      queryAll(table, { index, keys: `#${partitionKey.name} = :key`, values: { ':key': key } }),
    );
    const fresh = createBooks();
    for (const claim of (await Promise.all(partitions)).flat().map(readClaim)) fresh.set(claim.requestId, claim);
    for (const [requestId, { claim, at }] of changes) {
      if (at < startedAt - INDEX_LAG_MS) changes.delete(requestId);
      else fresh.set(requestId, claim);
    }
    books = fresh;
    readAt = startedAt;
  }

  async function readSince(maxAgeMs: number): Promise<void> {
    const age = now() - readAt;
    // A clock that was set back is no reason to trust what is old.
    if (age >= 0 && age <= maxAgeMs) return;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    await reading;
  }

  /** Keeps a change for as long as the index may not show it, and the picture only while it is asked for. */
  function note(requestId: string, claim: OpenClaim | undefined): void {
    const at = now();
    changes.delete(requestId);
    changes.set(requestId, { claim, at });
    for (const [oldest, change] of changes) {
      if (at - change.at < INDEX_LAG_MS) break;
      changes.delete(oldest);
    }
    if (at - readAt > 2 * FAR_MS) {
      books = createBooks();
      readAt = Number.NEGATIVE_INFINITY;
    }
    books.set(requestId, claim);
  }

  return {
    async read(maxAgeMs) {
      await readSince(maxAgeMs);
      return books.claims;
    },
    async takePlace(relayer, most) {
      await readSince(FAR_MS);
      if (books.countOf(relayer) * 2 >= most) await readSince(NEAR_MS);
      return await places.take(relayer, () => most - books.countOf(relayer));
    },
    opened: (claim) => note(claim.requestId, claim),
    ended: (requestId) => note(requestId, undefined),
  };
}

/** Places that are kept for claims under way: whether they are won shows only then, so who finds none left waits for those. */
function createPlaces() {
  const taken = new Map<string, { count: number; readonly waiting: (() => void)[] }>();
  function give(key: string): void {
    const kept = taken.get(key);
    if (kept === undefined) return;
    kept.count--;
    if (kept.count === 0) taken.delete(key);
    for (const wake of kept.waiting.splice(0)) wake();
  }
  return {
    async take(relayer: string, free: () => number): Promise<(() => void) | undefined> {
      const key = relayer.toLowerCase();
      for (;;) {
        const kept = taken.get(key) ?? { count: 0, waiting: [] };
        if (free() > kept.count) {
          kept.count++;
          taken.set(key, kept);
          return () => give(key);
        }
        if (kept.count === 0) return undefined;
        await new Promise<void>((wake) => kept.waiting.push(wake));
      }
    },
  };
}
