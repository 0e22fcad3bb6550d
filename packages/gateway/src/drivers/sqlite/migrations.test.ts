import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ALL, anyAddress, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, type SqliteRig, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { createSignatureKey } from '../../ports/signatureKey.ts';

let rig: SqliteRig;
beforeEach(async () => {
  rig = await createSqliteRig();
});
afterEach(() => rig.dispose());

const RELAYER = anyAddress();
const [R, S] = [`0x${'1f'.repeat(32)}`, `0x${'2e'.repeat(32)}`];

/** The schema as the first version wrote it. */
const FIRST_SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
  CREATE TABLE "${TEST_TABLES.requests}" (
    seq INTEGER PRIMARY KEY, request_id TEXT NOT NULL UNIQUE, chain_name TEXT NOT NULL, action TEXT NOT NULL,
    signer TEXT NOT NULL COLLATE NOCASE, status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    tx_hash TEXT, error_message TEXT, claimed_by TEXT COLLATE NOCASE, claimed_at INTEGER, call_id TEXT
  ) STRICT;
  CREATE INDEX "${TEST_TABLES.requests}.by_signer" ON "${TEST_TABLES.requests}" (signer, created_at, request_id);
  CREATE INDEX "${TEST_TABLES.requests}.by_status" ON "${TEST_TABLES.requests}" (status, created_at, request_id);
  CREATE INDEX "${TEST_TABLES.requests}.by_chain" ON "${TEST_TABLES.requests}" (chain_name, created_at, request_id);
  CREATE INDEX "${TEST_TABLES.requests}.by_chain_status"
    ON "${TEST_TABLES.requests}" (chain_name, status, created_at, request_id);
  CREATE TABLE "${TEST_TABLES.requests}.params" (seq INTEGER PRIMARY KEY, params TEXT NOT NULL) STRICT;
  CREATE TABLE "${TEST_TABLES.requests}.counts" (status TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE "${TEST_TABLES.relayers}" (
    address TEXT PRIMARY KEY COLLATE NOCASE, label TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE "${TEST_TABLES.rateLimits}" (
    key TEXT NOT NULL, window INTEGER NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY (key, window)
  ) STRICT, WITHOUT ROWID;
`;

/** A record as an old file holds it. */
function oldRecord(i: number, fields: Partial<StoredRequest>): StoredRequest {
  const record = pendingRequest({ chainName: 'eip155:1', createdAt: START + i, ...fields });
  const paramsJson = JSON.stringify({ cloudId: '0x01', signer: record.signer, v: 27, r: R, s: S });
  return { ...record, paramsJson };
}

const claimedAt = (ms: number): Partial<StoredRequest> => ({
  status: 'processing',
  claimedBy: RELAYER,
  claimedAt: START + ms,
  updatedAt: START + ms,
});

/** Writes a file of the first version. */
function writeOldFile(records: readonly StoredRequest[]): void {
  const database = new DatabaseSync(rig.file);
  database.exec(FIRST_SCHEMA);
  const insert = database.prepare(
    `INSERT INTO "${TEST_TABLES.requests}" VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertParams = database.prepare(`INSERT INTO "${TEST_TABLES.requests}.params" VALUES (?, ?)`);
  const count = database.prepare(
    `INSERT INTO "${TEST_TABLES.requests}.counts" VALUES (?, 1) ON CONFLICT DO UPDATE SET records = records + 1`,
  );
  for (const r of records) {
    const { txHash = null, errorMessage = null, claimedBy = null, claimedAt: at = null } = r;
    const head = [r.requestId, r.chainName, r.action, r.signer, r.status, r.createdAt, r.updatedAt];
    const { lastInsertRowid } = insert.run(...head, txHash, errorMessage, claimedBy, at, at === null ? null : 'a call');
    insertParams.run(lastInsertRowid, r.paramsJson);
    count.run(r.status);
  }
  database.prepare(`INSERT INTO "${TEST_TABLES.relayers}" VALUES (?, 'old', 1, 2)`).run(RELAYER);
  const version = database.prepare('INSERT INTO schema_versions VALUES (?, 1)');
  for (const name of Object.values(TEST_TABLES)) version.run(name);
  database.close();
}

// Shows STORE-8.
test('a file of the first version opens, and nothing of it is lost', async () => {
  const done = { ...claimedAt(1), status: 'success', txHash: `0x${'ab'.repeat(32)}` } as const;
  const records = [
    oldRecord(0, {}),
    oldRecord(1, claimedAt(9000)),
    oldRecord(2, claimedAt(5000)),
    oldRecord(3, done),
    oldRecord(4, {}),
  ] as const;
  writeOldFile(records);
  const { requests, relayers } = rig.open();
  const { items } = await requests.list({ filter: { chainName: 'eip155:1' }, order: 'asc', limit: 10 });
  expect(items).toStrictEqual(records);
  expect(await requests.stats()).toStrictEqual({
    countByStatus: { pending: 2, processing: 2, success: 1, failed: 0 },
    oldestPendingAt: START,
  });
  expect(await relayers.list()).toStrictEqual([{ address: RELAYER, label: 'old', createdAt: 1, updatedAt: 2 }]);
});

test('what an old file holds is in the feed, counts in the bound of claims, and is found by its signature', async () => {
  const records = [oldRecord(0, {}), oldRecord(1, claimedAt(9000)), oldRecord(2, claimedAt(5000))] as const;
  writeOldFile(records);
  const { requests } = rig.open();
  const place = { chainName: 'eip155:1', from: 'oldest', limit: 10, now: START + 99_000, ...ALL } as const;
  const lapsed = await requests.feed({ ...place, leaseExpiredAt: START + 10_000 });
  expect(lapsed.items).toStrictEqual([records[2], records[1], records[0]]);
  const first = await requests.feed({ ...place, leaseExpiredAt: START + 6000 });
  expect(first).toMatchObject({ items: [records[2], records[0]], nextClaimAt: START + 9000 });

  const full = await requests.claim(claimOf(records[0], { relayer: RELAYER, maxOpenClaims: 2 }));
  expect(full.outcome).toBe('full');

  const [record] = records;
  const signatureKey = createSignatureKey({ chainName: record.chainName, signer: record.signer, r: R, s: S });
  const again = await requests.create({ ...record, requestId: crypto.randomUUID() }, { signatureKey, once: true });
  expect(again).toStrictEqual({ outcome: 'exists', record });

  const fresh = pendingRequest({ chainName: 'eip155:1' });
  await requests.create(fresh);
  expect((await requests.feed({ ...place, after: lapsed.next })).items).toStrictEqual([fresh]);
});
