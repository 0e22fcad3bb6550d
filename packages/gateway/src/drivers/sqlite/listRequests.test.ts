import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { walkList } from '../../../test/contracts/walkList.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { ListQuery, RequestFilter } from '../../ports/requestStore.ts';
import { listPage } from './listRequests.ts';
import type { SqliteStores } from './openSqliteStores.ts';
import { quoteTables } from './tables.ts';

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
];

/** How SQLite runs the query of a list. */
function planOf(query: ListQuery): string {
  const database = new DatabaseSync(rig.file, { readOnly: true });
  let plan = '';
  const explain = (sql: string) => {
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(sql.split('?').length - 1).fill(''));
    plan = [plan, ...rows.map(({ detail }) => detail)].join('\n').trim();
    return database.prepare(sql);
  };
  listPage(explain, quoteTables(TEST_TABLES), query);
  database.close();
  return plan;
}

describe('a list costs the same however long the backlog is', () => {
  for (const order of ['asc', 'desc'] as const) {
    for (const after of [undefined, `${START}:${pendingRequest().requestId}`]) {
      test.each(filters)(
        `${order}, ${after === undefined ? 'from the start' : 'from a position'}, by %o: a walk on an index`,
        (filter) => {
          const plan = planOf({ filter, order, limit: 20, ...(after !== undefined && { after }) });
          expect(plan).not.toContain('SCAN');
          if ('signer' in filter) {
            expect(plan).toMatch(/^SEARCH f USING PRIMARY KEY \(signer_key=\? AND place[<>]/);
            // Only what a signer had stored in one millisecond is sorted, by its ids.
            expect(plan.replace('USE TEMP B-TREE FOR LAST TERM OF ORDER BY', '')).not.toContain('TEMP B-TREE');
            return;
          }
          expect(plan).toMatch(/^(MERGE \(UNION ALL\)\n[\s\S]*)?SEARCH r USING INDEX \S+/);
          expect(plan).not.toContain('TEMP B-TREE');
          if (after !== undefined) expect(plan).toMatch(/\(created_at,request_id\)[<>]/);
        },
      );
    }
  }
});

/** Of two signatures. */
const KEYS = ['A'.repeat(43), 'B'.repeat(43)] as const;

// Shows ADMIN-4.
test.each([{ txHash: TX_HASH }, { txHash: TX_HASH, signer }, { txHash: TX_HASH, status: 'success' } as const])(
  'a page by %o looks into each part of the index of transactions, and at its own requests',
  (filter) => {
    for (const after of [undefined, `${START}:${pendingRequest().requestId}`]) {
      const plan = planOf({ filter, order: 'desc', limit: 20, ...(after !== undefined && { after }) });
      expect(plan).toContain(`SEARCH r USING INDEX ${TEST_TABLES.requests}.by_transaction (<expr>=? AND <expr>=?)`);
      expect(plan.replaceAll(/SCAN (parts|CONSTANT ROW)/g, '')).not.toContain('SCAN');
    }
  },
);

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

  test('another signer whose first digits are the same is passed over, and costs as much as any other', async () => {
    const alike = `${ours.slice(0, 12)}${'0'.repeat(30)}`;
    const record = pendingRequest({ signer: alike, createdAt: START + 1600 });
    await stores.requests.create(record);
    const query = { filter: { signer: alike.toUpperCase().replace('0X', '0x') }, limit: 20 };
    expect((await stores.requests.list({ ...query, order: 'asc' })).items).toEqual([]);
    for (const order of ['asc', 'desc'] as const)
      expect(await walkList(stores.requests, { ...query, order })).toEqual([record]);
    const rest = await walkList(stores.requests, { filter: { signer: ours }, order: 'asc', limit: 100 });
    expect(rest).toHaveLength(2500);
  });

  test('loses nothing on the walk, in either order', async () => {
    const query = { filter: { signer: ours, chainName: rare }, limit: 20 };
    const found = await walkList(stores.requests, { ...query, order: 'asc' });
    expect(found.map(({ createdAt }) => createdAt - START)).toEqual([1249, 2499]);
    expect(await walkList(stores.requests, { ...query, order: 'desc' })).toEqual(found.toReversed());
  });

  test('does not read the params of what it passes over', () => {
    const database = new DatabaseSync(rig.file, { readOnly: true });
    let select: StatementSync | undefined;
    const keepStatement = (sql: string) => {
      select = database.prepare(sql);
      return select;
    };
    const filter = { signer: ours, chainName: rare };
    const after = `${START + 1240}:${pendingRequest().requestId}`;
    listPage(keepStatement, quoteTables(TEST_TABLES), { filter, order: 'asc', limit: 20, after });
    // The same statement once more, as an array of arrays: column 7 holds the params.
    const rows = select?.all(
      ours,
      rare,
      ours,
      START + 1240,
      START + 1240,
      '',
    ) as unknown as readonly (readonly unknown[])[];
    database.close();
    expect(rows.slice(0, 12).map((row) => [row[1] === rare, row[7] !== null])).toEqual(
      rows.slice(0, 12).map((_, i) => [i === 9, i === 9]),
    );
  });
});

test('a claimed record leaves the list of pending ones in the same moment', async () => {
  const record = pendingRequest({ chainName: anyChain() });
  await stores.requests.create(record);
  const query = { filter: { status: 'pending', chainName: record.chainName }, order: 'asc', limit: 1 } as const;
  expect((await stores.requests.list(query)).items).toHaveLength(1);
  await stores.requests.claim(claimOf(record));
  expect(await stores.requests.list(query)).toEqual({ items: [], next: null });
});

test('a record that is removed leaves nothing behind where records are found by signer and signature', async () => {
  const [kept, removed] = [pendingRequest(), pendingRequest()];
  for (const [key, record] of [
    [KEYS[0], kept],
    [KEYS[1], removed],
  ] as const)
    await stores.requests.create(record, { key, once: true });
  expect(await stores.admin.remove(removed.requestId)).toBe('removed');
  const database = new DatabaseSync(rig.file, { readOnly: true });
  const { requests, signed } = quoteTables(TEST_TABLES);
  const lost = database.prepare(`SELECT * FROM ${signed} WHERE seq NOT IN (SELECT seq FROM ${requests})`).all();
  const found = database
    .prepare(`SELECT place FROM ${signed} JOIN ${requests} USING (seq) WHERE request_id = ? ORDER BY place`)
    .all(kept.requestId);
  database.close();
  expect(lost).toEqual([]);
  expect(found.map(({ place }) => Number(place) < 0)).toEqual([true, false]);
});
