import { createAgenda } from './createAgenda.ts';
import { createPartition, type Partition } from './partition.ts';

/** One run of the simulation. */
export interface SimulatedLoad {
  /** New requests a second. */
  readonly rate: number;
  /** `INDEX_SHARDS`. */
  readonly shards: number;
  /** Partitions that the keys of an index share at random, as on its first day; undefined: each key has its own by now. */
  readonly sharedPartitions?: number;
  /** Random numbers from 0 to 1. */
  readonly random: () => number;
}

export interface SimulatedResult {
  /** Requests accepted a second. */
  readonly accepted: number;
  /** Share of creations that were answered 503. */
  readonly refusedShare: number;
  /** Share of writes whose first try was throttled. */
  readonly throttledShare: number;
  /** How late the list of what is pending is at worst, in seconds. */
  readonly lagSeconds: number;
}

type Act = 'create' | 'claim' | 'report';

/** One write on its way. */
interface Write {
  readonly act: Act;
  readonly shard: number;
  readonly tries: number;
}

const TICKS_A_SECOND = 100;
/** Until the queue has its usual length, in seconds, and how long is measured then. */
const WARM_UP_SECONDS = 20;
const MEASURED_SECONDS = 20;
/** From its creation to its claim, and from there to its report: a poll, and some blocks. */
const CLAIM_AFTER_SECONDS = 1;
const REPORT_AFTER_SECONDS = 6;
/** Tries, and the bounds of the first pause and of any, of the gateway's client. */
const MAX_TRIES = 7;
const FIRST_PAUSE_SECONDS = 0.1;
const LONGEST_PAUSE_SECONDS = 0.4;
/** When a relayer that got 503 tries again. */
const RELAYER_RETRY_SECONDS = 1;
/** AWS does not say how long an index may lag before it throttles its table; some seconds are assumed. */
const MAX_LAG_SECONDS = 5;

/** Index entries that each act writes or removes. */
const entriesOf: Readonly<Record<Act, readonly string[]>> = {
  create: ['pending', 'chain', 'queue'],
  claim: ['pending', 'processing', 'queue'],
  report: ['processing', 'success'],
};

/** The index of an entry, if it is not that of statuses. */
const indexOf: Readonly<Record<string, string>> = { chain: 'byChain', queue: 'byPendingChain' };

/** Finds, and makes, the partition of each key. */
function createPlacement({ sharedPartitions, random }: SimulatedLoad) {
  const byKey = new Map<string, Partition>();
  // By shard: names of keys are put together once, not for each of millions of writes.
  const byAct: Readonly<Record<Act, (readonly Partition[])[]>> = { create: [], claim: [], report: [] };
  const byPlace = new Map<string, Partition>();
  function place(key: string): Partition {
    const index = indexOf[key.split('#')[0] ?? ''] ?? 'byStatusWithClaim';
    const number = sharedPartitions === undefined ? key : Math.floor(random() * sharedPartitions);
    const partition = byPlace.get(`${index} ${number}`) ?? createPartition(MAX_LAG_SECONDS);
    byPlace.set(`${index} ${number}`, partition);
    byKey.set(key, partition);
    return partition;
  }
  const partitionOf = (key: string) => byKey.get(key) ?? place(key);
  function partitionsOf(act: Act, shard: number): readonly Partition[] {
    const known = byAct[act][shard] ?? entriesOf[act].map((key) => partitionOf(`${key}#${shard}`));
    byAct[act][shard] = known;
    return known;
  }
  return {
    partitionsOf,
    all: () => [...byPlace.values()],
    ofPending: () => [...byKey].filter(([key]) => key.startsWith('pending')).map(([, partition]) => partition),
  };
}

/** Counts what happens once the load is steady. */
function createCounts() {
  return { accepted: 0, refused: 0, writes: 0, throttled: 0, worstLag: 0 };
}

/**
 * Simulates requests that are created, claimed and reported on a table with sharded indexes, all on one chain: which share is
 * throttled, and how late the indexes become.
 *
 * @returns what the second half of forty seconds looked like
 */
export function simulateLoad(load: SimulatedLoad): SimulatedResult {
  const { rate, shards, random } = load;
  const placement = createPlacement(load);
  const agenda = createAgenda<Write>();
  let counts = createCounts();

  function follow({ act, shard }: Write): void {
    if (act === 'create') agenda.add(CLAIM_AFTER_SECONDS * TICKS_A_SECOND, { act: 'claim', shard, tries: 0 });
    if (act === 'claim') agenda.add(REPORT_AFTER_SECONDS * TICKS_A_SECOND, { act: 'report', shard, tries: 0 });
  }

  function giveUp({ act, shard }: Write): void {
    if (act === 'create') counts.refused++;
    else agenda.add(RELAYER_RETRY_SECONDS * TICKS_A_SECOND, { act, shard, tries: 0 });
  }

  function tryWrite(write: Write): void {
    const { act, shard, tries } = write;
    const partitions = placement.partitionsOf(act, shard);
    if (tries === 0) counts.writes++;
    if (!partitions.some(({ isFull }) => isFull)) {
      for (const partition of partitions) partition.take();
      if (act === 'create') counts.accepted++;
      follow(write);
      return;
    }
    if (tries === 0) counts.throttled++;
    const longestPause = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** tries);
    if (tries + 1 === MAX_TRIES) giveUp(write);
    else agenda.add(random() * longestPause * TICKS_A_SECOND, { ...write, tries: tries + 1 });
  }

  function tick(): void {
    for (const write of agenda.next()) tryWrite(write);
    for (let i = 0; i < rate / TICKS_A_SECOND; i++) {
      tryWrite({ act: 'create', shard: Math.floor(random() * shards), tries: 0 });
    }
    for (const partition of placement.all()) partition.advance(1 / TICKS_A_SECOND);
    const lag = Math.max(...placement.ofPending().map(({ lagSeconds }) => lagSeconds));
    counts.worstLag = Math.max(counts.worstLag, lag);
  }

  for (let i = 0; i < WARM_UP_SECONDS * TICKS_A_SECOND; i++) tick();
  counts = createCounts();
  for (let i = 0; i < MEASURED_SECONDS * TICKS_A_SECOND; i++) tick();
  return {
    accepted: counts.accepted / MEASURED_SECONDS,
    refusedShare: counts.refused / Math.max(1, counts.accepted + counts.refused),
    throttledShare: counts.throttled / Math.max(1, counts.writes),
    lagSeconds: counts.worstLag,
  };
}
