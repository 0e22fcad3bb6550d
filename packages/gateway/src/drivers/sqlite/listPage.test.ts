import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { ListQuery, RequestFilter } from '../../ports/requestStore.ts';
import { selectPage } from '../sql/listPage.ts';
import type { SqliteStores } from './openSqliteStores.ts';
import { quoteTables, selectFound } from './tables.ts';

let rig: SqliteRig;
let stores: SqliteStores;

beforeAll(async () => {
  rig = await createSqliteRig();
  stores = rig.open();
});
afterAll(() => rig.dispose());

const TX_HASH = `0x${'ab'.repeat(32)}`;
const [signer, chainName, status] = [anyAddress(), anyChain(), 'pending'] as const;
const filters: readonly RequestFilter[] = [
  { signer },
  { status },
  { chainName },
  { signer, status },
  { signer, chainName },
  { status, chainName },
  { signer, status, chainName },
  { txHash: TX_HASH },
  { txHash: TX_HASH, signer },
  { txHash: TX_HASH, status },
];

/** How SQLite runs the query of a list: each walk, and each sort. */
function planOf(query: ListQuery): string {
  const { sql, values } = selectPage({ ...quoteTables(TEST_TABLES), key: 'seq' }, query);
  const database = new DatabaseSync(rig.file, { readOnly: true });
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  database.close();
  return rows.map(({ detail }) => detail).join('\n');
}

describe('a list costs the same however long the backlog is', () => {
  for (const order of ['asc', 'desc'] as const) {
    for (const after of [undefined, `${START}:${pendingRequest().requestId}`]) {
      test.each(filters)(
        `${order}, ${after === undefined ? 'from the start' : 'from a position'}, by %o: a walk on an index`,
        (filter) => {
          const plan = planOf({ filter, order, limit: 20, ...(after !== undefined && { after }) });
          const isMerged = !('status' in filter || 'signer' in filter || 'txHash' in filter);
          // The first records of each status are sorted once more, if all statuses are asked for.
          const walks = isMerged ? plan.replaceAll(/SCAN part|USE TEMP B-TREE FOR ORDER BY/g, '') : plan;
          // Only what was stored in one millisecond is sorted, by its ids.
          expect(walks.replaceAll('USE TEMP B-TREE FOR LAST TERM OF ORDER BY', '')).not.toMatch(/SCAN|TEMP B-TREE/);
          expect(walks).toMatch(/SEARCH \S+ USING INDEX/);
          if (after !== undefined) expect(walks).toMatch(/created_at(,request_id\))?[<>]/);
        },
      );
    }
  }
});

describe('a page that no index holds', () => {
  const ours = anyAddress();
  const others = anyChain();
  const rare = anyChain();

  beforeAll(async () => {
    const records = Array.from({ length: 2500 }, (_, i) => {
      const isRare = i % 1250 === 1249;
      return pendingRequest({ signer: ours, chainName: isRare ? rare : others, createdAt: START + i });
    });
    await Promise.all(records.map((record) => stores.requests.create(record)));
  });

  // Shows STORE-2.
  test('is short, not slow: it looks at a thousand records and leaves the rest to the next', async () => {
    const query = { filter: { signer: ours, chainName: rare }, order: 'asc', limit: 20 } as const;
    const first = await stores.requests.list(query);
    expect(first).toMatchObject({ items: [], next: expect.stringMatching(`^${START + 999}:`) });
    const second = await stores.requests.list({ ...query, after: first.next ?? '' });
    expect(second.items.map(({ createdAt }) => createdAt - START)).toEqual([1249]);
    expect(second.next).not.toBeNull();
  });

  test('loses nothing on the walk, in either order', async () => {
    const query = { filter: { signer: ours, chainName: rare }, limit: 20 };
    const found = await walkList(stores.requests, { ...query, order: 'asc' });
    expect(found.map(({ createdAt }) => createdAt - START)).toEqual([1249, 2499]);
    expect(await walkList(stores.requests, { ...query, order: 'desc' })).toEqual(found.toReversed());
  });
});

test('the params of what a page passes over are not read', async () => {
  const [ours, rare, others] = [anyAddress(), anyChain(), anyChain()];
  for (const chain of [others, rare]) await stores.requests.create(pendingRequest({ signer: ours, chainName: chain }));
  const tables = quoteTables(TEST_TABLES);
  const { sql, values } = selectPage(
    { ...tables, key: 'seq' },
    { filter: { signer: ours, chainName: rare }, order: 'asc', limit: 20 },
  );
  const database = new DatabaseSync(rig.file, { readOnly: true });
  const rows = database.prepare(selectFound(tables, sql)).all(...values);
  database.close();
  const found = rows.map(({ chain_name: chain, params }) => [chain, params !== null] as const);
  expect(new Map(found)).toEqual(
    new Map([
      [others, false],
      [rare, true],
    ]),
  );
});

test('a claimed record leaves the list of pending ones in the same moment', async () => {
  const record = pendingRequest({ chainName: anyChain() });
  await stores.requests.create(record);
  const query = { filter: { status: 'pending', chainName: record.chainName }, order: 'asc', limit: 1 } as const;
  expect((await stores.requests.list(query)).items).toHaveLength(1);
  await stores.requests.claim(claimOf(record));
  expect(await stores.requests.list(query)).toEqual({ items: [], next: null });
});
