import { createParams } from './createParams.ts';
import type { GatewayCalls } from './gatewayCalls.ts';
import type { UnitMeter, Units } from './startUnitMeter.ts';
import { storeOnce } from './storeOnce.ts';

/** Names of the tables, as the gateway has them. */
export interface Tables {
  readonly requests: string;
  readonly relayers: string;
  readonly rateLimits: string;
}

/** What one act consumed, by table. */
export interface Row {
  readonly act: string;
  /** Bytes of params as JSON; absent where it does not matter. */
  readonly paramsBytes?: number;
  readonly units: Readonly<Record<keyof Tables, Units>>;
  /** A promise about the requests' table, and whether it is kept. */
  readonly target?: { readonly text: string; readonly isKept: boolean };
}

interface Measured {
  /** A gateway that requests are created at. */
  readonly writer: GatewayCalls;
  /** Another process: it has no params in memory when it first reads or claims a request. */
  readonly reader: GatewayCalls;
  readonly meter: UnitMeter;
  readonly tables: Tables;
  /** The engine's own address. */
  readonly endpoint: string;
}

const PAGE = 100;
/** Params at which a page ends before that, in bytes: one that anybody may ask for, and a relayer's. @see docs/specification.md LIST-8 */
const PAGE_BYTES = { anyone: 128_000, relayer: 1_000_000 };
/** Records that a page is taken from: there is more behind it. */
const RECORDS = 120;

/** Requests of each size have a chain of their own. */
const chainOf = (paramsBytes: number) => `bench:${paramsBytes}`;

/** Most write units of a whole life of a request of 1 kB. */
const LIFE_TARGET = 14;
/** Most write units of a whole life beyond those of storing large params twice: a claim keeps them from expiring. */
const EXTRA_TARGET = 9;
/** Weight from which the second target counts. */
const LARGE_BYTES = 200 * 1024;

const none: Units = { reads: 0, writes: 0 };
const plus = (a: Units, b: Units): Units => ({ reads: a.reads + b.reads, writes: a.writes + b.writes });

function addUnits(a: Row['units'], b: Row['units']): Row['units'] {
  return {
    requests: plus(a.requests, b.requests),
    relayers: plus(a.relayers, b.relayers),
    rateLimits: plus(a.rateLimits, b.rateLimits),
  };
}

async function unitsOf({ meter, tables }: Measured, act: () => Promise<unknown>): Promise<Row['units']> {
  meter.take();
  await act();
  const taken = meter.take();
  return {
    requests: taken.get(tables.requests) ?? none,
    relayers: taken.get(tables.relayers) ?? none,
    rateLimits: taken.get(tables.rateLimits) ?? none,
  };
}

function lifeTarget(paramsBytes: number, life: number, once: number): Row['target'] {
  if (paramsBytes < LARGE_BYTES) return { text: `at most ${LIFE_TARGET} writes`, isKept: life <= LIFE_TARGET };
  const most = 2 * once + EXTRA_TARGET;
  return { text: `at most 2 × ${once} + ${EXTRA_TARGET} writes`, isKept: life <= most };
}

/** Measures a request from its creation to its report. */
async function measureLife(measured: Measured, paramsBytes: number): Promise<Row[]> {
  const { writer, reader, endpoint, tables } = measured;
  let requestId = '';
  const create = await unitsOf(measured, async () => {
    requestId = await writer.create(chainOf(paramsBytes), createParams(paramsBytes));
  });
  const once = await storeOnce(endpoint, tables.requests, requestId);
  const claim = await unitsOf(measured, () => reader.claim(requestId));
  const report = await unitsOf(measured, () => reader.report(requestId));
  const life = [create, claim, report].reduce(addUnits);
  const isPromised = paramsBytes <= 1024 || paramsBytes >= LARGE_BYTES;
  const target = isPromised ? lifeTarget(paramsBytes, life.requests.writes, once) : undefined;
  return [
    { act: 'create', paramsBytes, units: create },
    { act: 'claim', paramsBytes, units: claim },
    { act: 'report', paramsBytes, units: report },
    { act: 'whole life', paramsBytes, units: life, ...(target && { target }) },
  ];
}

/** Requests that a full page holds: 100, or as many as it has bytes for. @see docs/specification.md LIST-8 */
const pageSize = (paramsBytes: number, pageBytes: number) =>
  Math.min(PAGE, Math.max(1, Math.floor(pageBytes / paramsBytes)));

/** Measures one record that is read, a full page of one signer, and one of what is pending on a chain. */
async function measureReads(measured: Measured, paramsBytes: number): Promise<Row[]> {
  const { writer, reader } = measured;
  const chainName = `${chainOf(paramsBytes)}:page`;
  const { signer } = createParams(500);
  const requestId = await writer.create(chainOf(paramsBytes), createParams(paramsBytes));
  for (let i = 0; i < RECORDS; i++) await writer.create(chainName, createParams(paramsBytes, signer));
  const sizes = {
    anyone: pageSize(paramsBytes, PAGE_BYTES.anyone),
    relayer: pageSize(paramsBytes, PAGE_BYTES.relayer),
  };
  const expectFull = (count: number, size: number) => {
    if (count !== size) throw new Error(`A page held ${count} instead of ${size}.`);
  };
  const get = await unitsOf(measured, () => reader.get(requestId));
  const ofSigner = await unitsOf(measured, async () => expectFull(await reader.listOf(signer), sizes.anyone));
  const listPending = async () => expectFull(await reader.listPending(chainName), sizes.relayer);
  const pending = await unitsOf(measured, listPending);
  return [
    { act: 'get', paramsBytes, units: get },
    { act: `page of ${sizes.anyone}, by signer`, paramsBytes, units: ofSigner },
    { act: `page of ${sizes.relayer}, pending of a chain`, paramsBytes, units: pending },
  ];
}

/** Pending requests of another chain, and how many are created at once. */
const [OTHERS, AT_ONCE] = [500, 16];
/** Most read units of a chain's page behind those of another, as a multiple of those of the page alone. */
const BEHIND_TARGET = 1.3;

/** Measures a chain's page of what is pending, alone and behind many of another chain. */
async function measureBehind(measured: Measured): Promise<Row> {
  const { writer, reader } = measured;
  const [own, other] = ['bench:own', 'bench:other'];
  for (let i = 0; i < RECORDS; i++) await writer.create(own, createParams(1024));
  const listOwn = () => unitsOf(measured, () => reader.listPending(own));
  await listOwn();
  const alone = await listOwn();
  let left = OTHERS;
  const fill = async () => {
    while (left-- > 0) await writer.create(other, createParams(1024));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  const units = await listOwn();
  const most = alone.requests.reads * BEHIND_TARGET;
  const target = { text: `at most ${BEHIND_TARGET} × ${alone.requests.reads}`, isKept: units.requests.reads <= most };
  return { act: `page of ${PAGE}, behind ${OTHERS} of another chain`, paramsBytes: 1024, units, target };
}

/**
 * Measures what each act consumes. The first calls of a client in a minute also read its counters of the minute before, so one of
 * each act goes before those that are measured.
 *
 * @param measured two gateways behind one meter
 * @param sizes bytes of params as JSON
 * @returns one row an act and size
 */
export async function measureUnits(measured: Measured, sizes: readonly number[]): Promise<Row[]> {
  const { reader } = measured;
  await measureLife(measured, 1000);
  await reader.listPending(chainOf(1000));
  await reader.listOf(createParams(500).signer);
  const rows: Row[] = [];
  for (const paramsBytes of sizes) {
    rows.push(...(await measureLife(measured, paramsBytes)), ...(await measureReads(measured, paramsBytes)));
  }
  rows.push(await measureBehind(measured));
  await reader.sign();
  rows.push({ act: 'sign', units: await unitsOf(measured, reader.sign) });
  return rows;
}
