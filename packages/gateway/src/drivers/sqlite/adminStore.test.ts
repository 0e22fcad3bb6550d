import { DatabaseSync } from 'node:sqlite';
import { REQUEST_STATUSES } from '@prism-gateway/protocol';
import { expect, test } from 'vitest';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { anyAddress, claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, sqliteStore, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';

adminStoreContract(
  'sqlite',
  sqliteStore((stores) => stores),
);

test('counts survive a restart, and two processes add to the same', async () => {
  const rig = await createSqliteRig();
  try {
    const [one, other] = [rig.open(), rig.open()];
    const chainName = 'eip155:1';
    const record = pendingRequest({ chainName });
    await Promise.all([one.requests.create(record), other.requests.create(pendingRequest({ chainName }))]);
    await other.requests.claim(claimOf(record));
    await rig.close();
    expect((await rig.open().admin.readStats(START)).chains).toMatchObject([{ chainName, pending: 1, processing: 1 }]);
  } finally {
    await rig.dispose();
  }
});

type R = StoredRequest;

test('a removal wakes those who wait for the record, in this process and in another', async () => {
  const rig = await createSqliteRig();
  try {
    const stores = [rig.open(), rig.open()] as const;
    const { requestId, ...rest } = pendingRequest();
    await stores[0].requests.create({ requestId, ...rest });
    const woken = stores.map(({ changes }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      changes.watch({ requestId, status: 'pending' }, resolve);
      return promise;
    });
    expect(await stores[0].admin.remove(requestId)).toBe('removed');
    await Promise.all(woken);
    expect(await stores[1].requests.get(requestId)).toBeUndefined();
  } finally {
    await rig.dispose();
  }
});

/** The counters of chains and relayers, and the same counted anew from the records. */
function countTwice(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const { requests } = TEST_TABLES;
  const all = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  const sum = (status: string) => `count(*) FILTER (WHERE status = '${status}') AS ${status}`;
  const sums = REQUEST_STATUSES.map(sum).join(', ');
  const counted = {
    chains: all(`SELECT * FROM "${requests}.chains" WHERE chain_name <> '' ORDER BY chain_name`),
    open: all(
      `SELECT lower(address) AS address, open_claims AS open FROM "${requests}.relayers" WHERE open_claims <> 0`,
    ),
  };
  const found = {
    chains: all(`SELECT chain_name, ${sums} FROM "${requests}" GROUP BY chain_name ORDER BY chain_name`),
    open: all(
      `SELECT lower(claimed_by) AS address, count(*) AS open FROM "${requests}" WHERE status = 'processing' GROUP BY 1`,
    ),
  };
  database.close();
  return { counted, found };
}

test('what is counted is what the records say, after moves of every kind', async () => {
  const rig = await createSqliteRig();
  try {
    const { requests, admin } = rig.open();
    const records = Array.from({ length: 12 }, (_, i) => pendingRequest({ chainName: i < 8 ? 'one' : 'other' }));
    await Promise.all(records.map((record) => requests.create(record)));
    // There are twelve.
    const [a, b, c, d, e, f] = records as unknown as readonly [R, R, R, R, R, R];
    const [relayer, rival] = ['0xAb00000000000000000000000000000000000001', anyAddress()];
    const at = (ms: number) => ({ relayer, now: START + ms });
    await Promise.all(records.slice(0, 6).map((record) => requests.claim(claimOf(record, at(1)))));
    // A rival loses one, takes one over that has lapsed, and the owner renews one and takes one of its own over.
    await requests.claim(claimOf(a, { relayer: rival, now: START + 2 }));
    await requests.claim(claimOf(b, { relayer: rival, now: START + 3, leaseExpiredAt: START + 2 }));
    await requests.claimAll([claimOf(c, { ...at(4), leaseExpiredAt: START })]);
    const lapsed = { leaseExpiredAt: START + 2, ownLeaseExpiredAt: START + 2 };
    await requests.claim(claimOf(d, { ...at(5), relayer: relayer.toLowerCase(), ...lapsed }));
    await requests.release({ requestId: e.requestId, relayer, releaseId: 'r', now: START + 6 });
    const outcome = { status: 'failed', errorMessage: 'no' } as const;
    await requests.report({ requestId: f.requestId, relayer, reportId: 'r', now: START + 7, outcome });
    const others = await requests.list({ filter: { chainName: 'other', status: 'pending' }, order: 'asc', limit: 3 });
    await requests.claimAll(others.items.map((one) => claimOf(one, { relayer: rival, now: START + 8 })));
    await requests.releaseAll({ relayer: rival, now: START + 9, limit: 2 });
    await admin.remove(f.requestId);
    const { counted, found } = countTwice(rig.file);
    expect(counted).toEqual(found);
    expect(found.open).not.toEqual([]);
    const { relayers } = await admin.readStats(START);
    expect(relayers.find(({ address }) => address === rival)).toMatchObject({ conflicts: 1 });
  } finally {
    await rig.dispose();
  }
});
