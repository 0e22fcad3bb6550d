import type { RequestStatus } from '@prism-gateway/protocol';
import { isStatusMove } from '@prism-gateway/protocol/states';
import { bucketOf, MINUTE_MS } from '../../ports/adminStore.ts';

/** One change of a record, as the write that makes it describes it. Times are milliseconds since the epoch. */
export interface Move {
  readonly chainName: string;
  /** null: it is new. */
  readonly from: RequestStatus | null;
  /** null: it is gone. */
  readonly to: RequestStatus | null;
  /** Who held it until now. */
  readonly oldOwner?: string;
  /** Who holds it from now on. */
  readonly newOwner?: string;
  /** When the claim was made that ends with it. */
  readonly claimedAt?: number | undefined;
  readonly at: number;
  readonly weight?: Weight | undefined;
}

/** The pending bytes of a record. */
export interface Weight {
  readonly bytes: number;
  /** The peer that has posted it, and its network. */
  readonly holders: readonly string[];
}

export type Counts = Record<RequestStatus, number>;
export type Acts = { posts: number; claims: number; success: number; failed: number };

/** A relayer's counters; its address as it gave it first. */
export interface RelayerTotals {
  readonly address: string;
  open: number;
  success: number;
  failed: number;
  conflicts: number;
  seenAt: number;
  /** Buckets of `bucketOf`, one a report. */
  readonly durations: number[];
}

/** The counters moved by one transaction. */
export interface CounterChanges {
  readonly chains: Map<string, Counts>;
  readonly minutes: Map<number, Acts>;
  /** By address in lower case. */
  readonly relayers: Map<string, RelayerTotals>;
  /** Bytes more or less of what is pending, of each who holds some of it, and of all under no name. */
  readonly pending: Map<string, number>;
  note(move: Move): void;
  /** @param relayer - who lost a claim, which changes no row */
  recordConflict(relayer: string): void;
  /** @param at - when a relayer has called */
  recordSeen(relayer: string, at: number): void;
  clear(): void;
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(key, fresh);
  return fresh;
}

const noCounts = (): Counts => ({ pending: 0, processing: 0, success: 0, failed: 0 });
const noActs = (): Acts => ({ posts: 0, claims: 0, success: 0, failed: 0 });

/** Gathers in memory what a transaction moves. */
export function createCounterChanges(): CounterChanges {
  const chains: CounterChanges['chains'] = new Map();
  const minutes: CounterChanges['minutes'] = new Map();
  const relayers: CounterChanges['relayers'] = new Map();
  const pending: CounterChanges['pending'] = new Map();
  const totalsOf = (address: string) =>
    entryOf(relayers, address.toLowerCase(), () => {
      return { address, open: 0, success: 0, failed: 0, conflicts: 0, seenAt: 0, durations: [] };
    });

  function recordOldOwner(owner: string, { to, claimedAt, at }: Move): void {
    const totals = totalsOf(owner);
    totals.open--;
    if (to !== 'success' && to !== 'failed') return;
    totals[to]++;
    totals.durations.push(bucketOf(at - (claimedAt ?? at)));
    totals.seenAt = Math.max(totals.seenAt, at);
  }

  function recordNewOwner(owner: string, { at }: Move): void {
    const totals = totalsOf(owner);
    totals.open++;
    totals.seenAt = Math.max(totals.seenAt, at);
  }

  function recordAct({ from, to, at }: Move): void {
    const acts = entryOf(minutes, Math.floor(at / MINUTE_MS), noActs);
    if (from === null) acts.posts++;
    else if (to === 'processing') acts.claims++;
    else if (to === 'success' || to === 'failed') acts[to]++;
  }

  function recordWeight({ bytes, holders }: Weight, sign: 1 | -1): void {
    for (const holder of ['', ...holders]) pending.set(holder, (pending.get(holder) ?? 0) + sign * bytes);
  }

  return {
    chains,
    minutes,
    relayers,
    pending,
    note(move) {
      assertMove(move);
      const { chainName, from, to, oldOwner, newOwner, weight } = move;
      const counts = entryOf(chains, chainName, noCounts);
      if (from !== null) counts[from]--;
      if (to !== null) counts[to]++;
      recordAct(move);
      if (oldOwner !== undefined) recordOldOwner(oldOwner, move);
      if (newOwner !== undefined) recordNewOwner(newOwner, move);
      if (weight !== undefined && from === 'pending') recordWeight(weight, -1);
      if (weight !== undefined && to === 'pending') recordWeight(weight, 1);
    },
    recordSeen(relayer, at) {
      const totals = totalsOf(relayer);
      totals.seenAt = Math.max(totals.seenAt, at);
    },
    recordConflict(relayer) {
      totalsOf(relayer).conflicts++;
    },
    clear() {
      for (const map of [chains, minutes, relayers, pending]) map.clear();
    },
  };
}

/** Moves of one commit, by their numbers: those after `after`, up to `last`, with a gap between if they are a process's first. */
export interface CommittedMoves {
  readonly after: number;
  readonly last: number;
  readonly count: number;
}

/** @throws Error for a move that the table of moves has not */
function assertMove({ from, to }: Move): void {
  if (from === null || to === null || isStatusMove(from, to)) return;
  throw new Error(`A request may not move from ${from} to ${to}.`);
}
