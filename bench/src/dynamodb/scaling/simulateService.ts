import { createAgenda } from './createAgenda.ts';
import { createFleet } from './createFleet.ts';
import { createTokens, type Tokens } from './createTokens.ts';
import { createPartition, type Partition } from './partition.ts';

/** A deployment, and what comes to it. */
export interface ServiceLoad {
  /** New requests a second, each of which is claimed, reported, and looked at twice. */
  readonly rate: number;
  /** `THROTTLE_RATE` and `THROTTLE_BURST` of API Gateway. */
  readonly throttleRate: number;
  readonly throttleBurst: number;
  /** `RESERVED_CONCURRENCY`. */
  readonly instances: number;
  /** `MAX_TABLE_WRITE_UNITS`: a second, of the table and of each index. */
  readonly writeUnits: number;
  /** `INDEX_SHARDS`. */
  readonly shards: number;
  /** How long is measured, after as long again. */
  readonly seconds: number;
  /** Random numbers from 0 to 1. */
  readonly random: () => number;
}

/** What became of it. */
export interface ServiceResult {
  /** Requests that were reported, a second. */
  readonly finished: number;
  /** Share of the new requests whose client gave up. */
  readonly lostShare: number;
  /** Shares of all calls that came: refused by API Gateway, without an instance, answered 503 by the gateway. */
  readonly throttledShare: number;
  readonly crowdedShare: number;
  readonly unavailableShare: number;
  /** From the first attempt of a creation to its 201, in seconds, at the 99th percentile. */
  readonly p99Seconds: number;
  /** Most instances at once. */
  readonly peakInstances: number;
}

type Act = 'create' | 'claim' | 'report' | 'read';

interface Call {
  readonly act: Act;
  readonly shard: number;
  /** Attempts of the client, this one included. */
  readonly attempt: number;
  readonly firstTick: number;
}

const TICKS = 100;
/** Of the function at 256 MB, without what DynamoDB takes; assumed, as in the bill. */
const CALL_SECONDS = 0.03;
/** Until a new instance answers, beyond that; assumed. */
const COLD_SECONDS = 0.8;
/** Tries, and the bounds of the first pause and of any, of the gateway's client. @see packages/gateway/src/drivers/dynamodb/createDynamoClient.ts */
const DB_TRIES = 7;
const DB_FIRST_PAUSE = 0.1;
const DB_LONGEST_PAUSE = 0.4;
/** Attempts and pauses of the SDK. @see packages/sdk/src/http/retryPolicy.ts */
const ATTEMPTS = 5;
const FIRST_DELAY = 0.2;
const LONGEST_DELAY = 5;
/** What 503 says. */
const RETRY_AFTER = 1;
/** When a relayer begins anew after the SDK has given up. */
const RELAYER_PAUSE = 1;
const CLAIM_AFTER = 1;
const REPORT_AFTER = 6;
const READS_AFTER = [2, 8];
/** AWS does not say how long an index may lag before it throttles its table; some seconds are assumed. */
const MAX_LAG_SECONDS = 5;

/** Units of the table and of each index. @see docs/scaling.md */
const UNITS: Readonly<Record<Act, Readonly<Record<string, number>>>> = {
  create: { table: 2, bySigner: 1, byChain: 1, byStatus: 1, byPending: 1, limits: 2 },
  claim: { table: 1, byStatus: 2, byPending: 1, limits: 1 },
  report: { table: 1, byStatus: 2, limits: 1 },
  read: { limits: 1 },
};
/** Keys of the sharded indexes that each act writes. */
const KEYS: Readonly<Record<Act, readonly string[]>> = {
  create: ['pending', 'chain', 'queue'],
  claim: ['pending', 'processing', 'queue'],
  report: ['processing', 'success'],
  read: [],
};

/** The table and its indexes: ceilings of each, and partitions of their keys. What an act touches is looked up once, not for each of millions of writes. */
function createTable({ writeUnits }: ServiceLoad) {
  const ceilings = new Map<string, Tokens>();
  const partitions = new Map<string, Partition>();
  const ceilingsOf = (act: Act) =>
    Object.entries(UNITS[act]).map(([name, units]) => {
      const known = ceilings.get(name) ?? createTokens(writeUnits, writeUnits);
      ceilings.set(name, known);
      return { ceiling: known, units };
    });
  const partitionOf = (key: string) => {
    const known = partitions.get(key) ?? createPartition(MAX_LAG_SECONDS);
    partitions.set(key, known);
    return known;
  };
  const byAct: Readonly<Record<Act, (readonly Partition[])[]>> = { create: [], claim: [], report: [], read: [] };
  const unitsOf = {
    create: ceilingsOf('create'),
    claim: ceilingsOf('claim'),
    report: ceilingsOf('report'),
    read: ceilingsOf('read'),
  };
  function partitionsOf({ act, shard }: Call): readonly Partition[] {
    const known = byAct[act][shard] ?? KEYS[act].map((key) => partitionOf(`${key}#${shard}`));
    byAct[act][shard] = known;
    return known;
  }
  return {
    /** @returns false: throttled */
    write(call: Call): boolean {
      const touched = partitionsOf(call);
      if (touched.some(({ isFull }) => isFull)) return false;
      // What one ceiling lets through and another does not has been paid for all the same.
      for (const { ceiling, units } of unitsOf[call.act]) if (!ceiling.take(units)) return false;
      for (const partition of touched) partition.take();
      return true;
    },
    advance(seconds: number) {
      for (const one of [...ceilings.values(), ...partitions.values()]) one.advance(seconds);
    },
  };
}

const createCounts = () => ({ calls: 0, created: 0, finished: 0, lost: 0, throttled: 0, crowded: 0, unavailable: 0 });

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * Simulates whole lives on a deployment: API Gateway's throttle, instances that are busy for as long as a call takes, tries at throttled
 * tables included, and clients that come back.
 */
export function simulateService(load: ServiceLoad): ServiceResult {
  const { rate, shards, seconds, random } = load;
  const door = createTokens(load.throttleRate, load.throttleBurst);
  const fleet = createFleet(load.instances);
  const table = createTable(load);
  const agenda = createAgenda<() => void>();
  let counts = createCounts();
  let latencies: number[] = [];
  let now = 0;
  const after = (wait: number, act: () => void) => agenda.add(wait * TICKS, act);

  function begin(act: Act, shard: number): void {
    arrive({ act, shard, attempt: 1, firstTick: now });
  }

  /** Nothing was done: the client comes back, as often as the SDK does; relayers then begin anew. */
  function refuse(call: Call, retryAfter: number): void {
    const { act, shard, attempt } = call;
    if (attempt < ATTEMPTS) {
      const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1)) * (0.5 + random() / 2);
      after(retryAfter + delay, () => arrive({ ...call, attempt: attempt + 1 }));
    } else if (act === 'create') counts.lost++;
    else if (act !== 'read') after(RELAYER_PAUSE, () => begin(act, shard));
  }

  function arrive(call: Call): void {
    counts.calls++;
    if (!door.take(1)) {
      counts.throttled++;
      refuse(call, 0);
      return;
    }
    const instance = fleet.take();
    if (instance === undefined) {
      counts.crowded++;
      refuse(call, 0);
      return;
    }
    after(CALL_SECONDS + (instance === 'cold' ? COLD_SECONDS : 0), () => work(call, 1));
  }

  /** The instance is busy until its write has got through, or it gives up. */
  function work(call: Call, tries: number): void {
    if (table.write(call)) {
      fleet.release();
      succeed(call);
      return;
    }
    if (tries < DB_TRIES) {
      const pause = Math.min(DB_LONGEST_PAUSE, DB_FIRST_PAUSE * 2 ** (tries - 1)) * random();
      after(pause, () => work(call, tries + 1));
      return;
    }
    fleet.release();
    counts.unavailable++;
    refuse(call, RETRY_AFTER);
  }

  function succeed({ act, shard, firstTick }: Call): void {
    if (act === 'report') counts.finished++;
    if (act === 'claim') after(REPORT_AFTER, () => begin('report', shard));
    if (act !== 'create') return;
    counts.created++;
    latencies.push((now - firstTick) / TICKS);
    after(CLAIM_AFTER, () => begin('claim', shard));
    for (const wait of READS_AFTER) after(wait, () => begin('read', shard));
  }

  function tick(): void {
    now++;
    for (const act of agenda.next()) act();
    for (let due = Math.floor((now * rate) / TICKS) - Math.floor(((now - 1) * rate) / TICKS); due > 0; due--) {
      begin('create', Math.floor(random() * shards));
    }
    for (const part of [door, fleet, table]) part.advance(1 / TICKS);
  }

  for (let i = 0; i < seconds * TICKS; i++) tick();
  counts = createCounts();
  latencies = [];
  for (let i = 0; i < seconds * TICKS; i++) tick();
  const shareOf = (part: number) => part / Math.max(1, counts.calls);
  return {
    finished: counts.finished / seconds,
    lostShare: counts.lost / Math.max(1, counts.created + counts.lost),
    throttledShare: shareOf(counts.throttled),
    crowdedShare: shareOf(counts.crowded),
    unavailableShare: shareOf(counts.unavailable),
    p99Seconds: percentile(latencies, 0.99),
    peakInstances: fleet.peak,
  };
}
