import { randomBytes } from 'node:crypto';
import type { RequestRecord } from '@prism-gateway/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPage, readRecord, updateCall } from '../rigs/gatewayClient.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import { type GatewayPair, startGatewayPair } from '../rigs/startGatewayPair.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';
import { sized } from '../testSize.ts';

/** Records that nobody touches once they are made. */
const STATIC = sized({ small: 1000, long: 10_000 });
/** Records among them that are claimed and reported on during the walks. */
const MOVING = STATIC / 4;
/** Requests created at the same time while the queue is filled. */
const FILLERS = 40;
const WRITERS = 4;
/** Most records that the writers add, so that a walk towards the newest ones comes to its end. */
const MAX_ADDED = STATIC;
/** Most pages of one walk: one that does not end is a failure. */
const MAX_PAGES = 10 * STATIC;

const signer = `0x${randomBytes(20).toString('hex')}`;
const chainName = 'eip155:31337';

/** What the walks run against. */
const untouched = new Map<string, RequestRecord>();
const moving: RequestRecord[] = [];
/** Requests known to be claimed: answered so before a page was asked for. */
const claimed = new Set<string>();
/** Every record that is known to be there. */
const created = new Set<string>();
const done = { writes: 0 };
let pair: GatewayPair;
let owner: RelayerClient;

const anyUrl = () => pair.urls[Math.random() < 0.5 ? 0 : 1];

async function createOne(): Promise<RequestRecord> {
  const json = writeRequestBody({ signer, chainName });
  const record = readRecord(await pair.client.call(anyUrl(), { method: 'POST', path: '/requests', json }), 201);
  created.add(record.requestId);
  return record;
}

/** Fills the queue; the two kinds of records lie mixed. */
async function fill(): Promise<void> {
  let left = STATIC + MOVING;
  const filler = async () => {
    while (left-- > 0) {
      const isMoving = left % (STATIC / MOVING + 1) === 0;
      const record = await createOne();
      if (isMoving) moving.push(record);
      else untouched.set(record.requestId, record);
    }
  };
  await Promise.all(Array.from({ length: FILLERS }, filler));
}

beforeAll(async () => {
  pair = await startGatewayPair({ relayers: 1 });
  owner = pair.relayers[0] as RelayerClient; // One was asked for.
  await fill();
}, 120_000);
afterAll(() => pair?.dispose());

/** Claims one of the moving records and reports on it. */
async function moveOne({ requestId }: RequestRecord): Promise<void> {
  readRecord(await pair.client.call(anyUrl(), updateCall(requestId, { status: 'processing' }, owner)));
  claimed.add(requestId);
  const report = { status: 'failed', errorMessage: 'the Forwarder reverted' } as const;
  readRecord(await pair.client.call(anyUrl(), updateCall(requestId, report, owner)));
  done.writes += 2;
}

/** Adds and moves records, in turn, until the walks are over. */
async function keepWriting(isOver: () => boolean): Promise<void> {
  let added = 0;
  while (!isOver() && (added < MAX_ADDED / WRITERS || moving.length > 0)) {
    const index = Math.floor(Math.random() * moving.length);
    const [record] = moving.splice(index, 1);
    if (record !== undefined) await moveOne(record);
    if (added++ >= MAX_ADDED / WRITERS) continue;
    const fresh = await createOne();
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
async function readOnePage(walk: Walk, lastKey: string | null) {
  const { filters, order } = walk;
  const limit = String(1 + Math.floor(Math.random() * 100));
  const query = new URLSearchParams({ ...filters, order, limit, ...(lastKey !== null && { lastKey }) });
  const known = isPendingOnly(walk) ? new Set(claimed) : new Set<string>();
  const isPublic = filters.status === undefined && filters.chainName === undefined;
  const page = readPage(
    await pair.client.call(anyUrl(), {
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
async function walkAll(walk: Walk) {
  const before = [...created];
  const items: RequestRecord[] = [];
  let lastKey: string | null = null;
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const page = await readOnePage(walk, lastKey);
    items.push(...page.items);
    if (page.lastKey === null) return { items, before, pages };
    lastKey = page.lastKey;
  }
  throw new Error(`the walk did not end in ${MAX_PAGES} pages`);
}

const positionOf = ({ createdAt, requestId }: RequestRecord) => `${createdAt} ${requestId}`;

/** Nothing twice, nothing out of order, nothing of the untouched records lost or changed. */
function expectWhole(walk: Walk, { items, before }: Awaited<ReturnType<typeof walkAll>>): void {
  const positions = items.map(positionOf);
  const sorted = [...new Set(positions)].sort();
  expect(positions).toEqual(walk.order === 'asc' ? sorted : sorted.reverse());
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

test(`walks over ${STATIC} records lose and double none while others are written and claimed`, {
  timeout: 300_000,
}, async () => {
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, () => keepWriting(() => isOver));
  let pages = 0;
  const walking = async () => {
    for (const walk of WALKS) {
      const walked = await walkAll(walk);
      expectWhole(walk, walked);
      pages += walked.pages;
    }
  };
  try {
    await walking();
  } finally {
    isOver = true;
    // None may still be calling when the gateways are stopped.
    await Promise.allSettled(writers);
  }
  await Promise.all(writers);
  expect(done.writes).toBeGreaterThan(WALKS.length);
  console.info(`paging: ${WALKS.length} walks, ${pages} pages, ${done.writes} writes meanwhile, 0 of ${STATIC} lost`);
});
