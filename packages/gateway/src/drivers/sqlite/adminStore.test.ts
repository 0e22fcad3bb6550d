import { expect, test } from 'vitest';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { createSqliteRig, sqliteStore } from '../../../test/rigs/sqliteStores.ts';

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
