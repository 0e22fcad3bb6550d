import { randomBytes } from 'node:crypto';
import type { RequestRecord } from '@prism-gateway/protocol';
import { drawSome, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { readPage, readRecord, updateCall } from '../rigs/gatewayClient.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { type GatewayPair, type StartGatewayPair, startGatewayPair } from '../rigs/startGatewayPair.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';

interface PagingOptions {
  /** Records that nobody touches once they are made. */
  readonly records: number;
  /** Requests created at the same time while the queue is filled. */
  readonly fillers: number;
  /**
   * Whether records that are written during a walk must come in order, too. A list of several parts may give one that was written
   * late a page later than its neighbours; the other way would be to leave it out.
   */
  readonly ordersLateRecords: boolean;
}

const WRITERS = 4;

const signer = `0x${randomBytes(20).toString('hex')}`;
const chainName = 'eip155:31337';

/** What the walks run against. */
interface Field {
  readonly options: PagingOptions;
  readonly pair: GatewayPair;
  readonly owner: RelayerClient;
  readonly untouched: Map<string, RequestRecord>;
  /** Records that are claimed and reported on during the walks; at first a quarter as many as the untouched. */
  readonly moving: RequestRecord[];
  /** Requests known to be claimed: answered so before a page was asked for. */
  readonly claimed: Set<string>;
  /** Every record that is known to be there. */
  readonly created: Set<string>;
  readonly done: { writes: number };
}

const anyUrl = ({ pair }: Field) => pair.urls[Math.random() < 0.5 ? 0 : 1];

async function createOne(field: Field): Promise<RequestRecord> {
  const { pair, created } = field;
  const json = writeRequestBody({ signer, chainName });
  const record = readRecord(await pair.client.call(anyUrl(field), { method: 'POST', path: '/requests', json }), 201);
  created.add(record.requestId);
  return record;
}

/** Fills the queue; the two kinds of records lie mixed. */
async function fill(field: Field): Promise<void> {
  const { untouched, moving, options } = field;
  let left = options.records * 1.25;
  const filler = async () => {
    while (left-- > 0) {
      const isMoving = left % 5 === 0;
      const record = await createOne(field);
      if (isMoving) moving.push(record);
      else untouched.set(record.requestId, record);
    }
  };
  await Promise.all(Array.from({ length: options.fillers }, filler));
}

function createField(pair: GatewayPair, options: PagingOptions): Field {
  return {
    options,
    pair,
    owner: pair.relayers[0] as RelayerClient, // One was asked for.
    untouched: new Map(),
    moving: [],
    claimed: new Set(),
    created: new Set(),
    done: { writes: 0 },
  };
}

/** Claims one of the moving records and reports on it. */
async function moveOne(field: Field, { requestId }: RequestRecord): Promise<void> {
  const { pair, owner, claimed, done } = field;
  readRecord(await pair.client.call(anyUrl(field), updateCall(requestId, { status: 'processing' }, owner)));
  claimed.add(requestId);
  const report = { status: 'failed', errorMessage: 'the Forwarder reverted' } as const;
  readRecord(await pair.client.call(anyUrl(field), updateCall(requestId, report, owner)));
  done.writes += 2;
}

/** Adds and moves records, in turn, until the walks are over. */
async function keepWriting(field: Field, isOver: () => boolean): Promise<void> {
  const { moving, done, options } = field;
  // So that a walk towards the newest ones comes to its end.
  const mostAdded = options.records / WRITERS;
  let added = 0;
  while (!isOver() && (added < mostAdded || moving.length > 0)) {
    const index = Math.floor(Math.random() * moving.length);
    const [record] = moving.splice(index, 1);
    if (record !== undefined) await moveOne(field, record);
    if (added++ >= mostAdded) continue;
    const fresh = await createOne(field);
    done.writes++;
    // Half of what comes is claimed later on.
    if (added % 2 === 0) moving.push(fresh);
  }
}

interface Walk {
  readonly filters: Readonly<Record<string, string>>;
  readonly order: 'asc' | 'desc';
}

const isPendingOnly = ({ filters }: Walk) => filters.status === 'pending';

/** Reads one page, of a random size, from one of the two processes. */
async function readOnePage(field: Field, walk: Walk, lastKey: string | null) {
  const { pair, owner, claimed } = field;
  const { filters, order } = walk;
  const limit = String(1 + Math.floor(Math.random() * 100));
  const query = new URLSearchParams({ ...filters, order, limit, ...(lastKey !== null && { lastKey }) });
  const known = isPendingOnly(walk) ? new Set(claimed) : new Set<string>();
  const isPublic = filters.status === undefined && filters.chainName === undefined;
  const page = readPage(
    await pair.client.call(anyUrl(field), {
      method: 'GET',
      path: '/requests',
      query: `?${query}`,
      ...(!isPublic && { relayer: owner }),
    }),
  );
  expect(page.count).toBe(page.items.length);
  expect(page.items.length).toBeLessThanOrEqual(Number(limit));
  expect(page.items.filter(({ requestId }) => known.has(requestId))).toEqual([]);
  return page;
}

/** Walks a list to its end; @returns what it gave, and what was there before it began */
async function walkAll(field: Field, walk: Walk) {
  const before = [...field.created];
  // One that does not end is a failure.
  const mostPages = 10 * field.options.records;
  const items: RequestRecord[] = [];
  let lastKey: string | null = null;
  for (let pages = 1; pages <= mostPages; pages++) {
    const page = await readOnePage(field, walk, lastKey);
    items.push(...page.items);
    if (page.lastKey === null) return { items, before, pages };
    lastKey = page.lastKey;
  }
  throw new Error(`the walk did not end in ${mostPages} pages`);
}

const positionOf = ({ createdAt, requestId }: RequestRecord) => `${createdAt} ${requestId}`;

/** Nothing twice, nothing out of order, nothing of the untouched records lost or changed. */
function expectWhole(field: Field, walk: Walk, { items, before }: Awaited<ReturnType<typeof walkAll>>): void {
  const { untouched, options } = field;
  const known = new Set(before);
  const positions = items.map(positionOf);
  expect(new Set(positions).size).toBe(positions.length);
  const ordered = items.filter(({ requestId }) => options.ordersLateRecords || known.has(requestId)).map(positionOf);
  const sorted = ordered.toSorted();
  expect(ordered).toEqual(walk.order === 'asc' ? sorted : sorted.reverse());
  const seen = items.filter(({ requestId }) => untouched.has(requestId));
  expect(seen.length).toBe(untouched.size);
  for (const record of seen) expect(record).toEqual(untouched.get(record.requestId));
  const listed = new Set(items.map(({ requestId }) => requestId));
  if (isPendingOnly(walk)) expect(items.filter(({ status }) => status !== 'pending')).toEqual([]);
  else expect(before.filter((requestId) => !listed.has(requestId))).toEqual([]);
}

const WALKS: readonly Walk[] = (['asc', 'desc'] as const).flatMap((order) =>
  [
    { signer },
    { status: 'pending' },
    { chainName, status: 'pending' },
    { chainName },
    { signer, status: 'pending' },
  ].map((filters) => ({ filters, order })),
);

/** Walks every list while others write. @returns how many pages it took */
async function walkAmongWriters(field: Field): Promise<number> {
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, () => keepWriting(field, () => isOver));
  let pages = 0;
  try {
    for (const walk of WALKS) {
      const walked = await walkAll(field, walk);
      expectWhole(field, walk, walked);
      pages += walked.pages;
    }
  } finally {
    isOver = true;
    // None may still be calling when the gateways are stopped.
    await Promise.allSettled(writers);
  }
  await Promise.all(writers);
  return pages;
}

/** Lists are walked page by page, at two processes, while others write before and behind the walks. */
function pagingRace(store: string, startPair: StartGatewayPair, options: PagingOptions): void {
  describe(`walks among writers on ${store}`, () => {
    let field: Field | undefined;
    beforeAll(async () => {
      field = createField(await startPair({ relayers: 1 }), options);
      await fill(field);
    });
    afterAll(() => field?.pair.dispose());

    test(`walks over ${options.records} records lose and double none while others are written and claimed`, async () => {
      if (field === undefined) throw new Error('it is prepared before');
      const pages = await walkAmongWriters(field);
      const { writes } = field.done;
      expect(writes).toBeGreaterThan(WALKS.length);
      console.info(
        `paging: ${WALKS.length} walks, ${pages} pages, ${writes} writes meanwhile, 0 of ${options.records} lost`,
      );
    });
  });
}

const stores = drawSome(['SQLite', 'DynamoDB'], { of: 'walks among writers', small: 1 });

if (stores.includes('SQLite')) {
  pagingRace('SQLite', startGatewayPair, {
    records: sized({ small: 300, long: 10_000 }),
    fillers: 40,
    ordersLateRecords: true,
  });
}

if (stores.includes('DynamoDB')) {
  describeWithDynamo('DynamoDB', () => {
    pagingRace('DynamoDB', startDynamoPair, {
      // Each page costs the engine a tenth of a second and more: a thousand are 270 pages, and twenty of each list.
      records: sized({ small: 200, long: 1000 }),
      // It has one thread: of forty calls at once the last may come after the gateway's patience, which is a 503.
      fillers: 8,
      ordersLateRecords: false,
    });
  });
}
