import { expect, test } from 'vitest';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';
import { meterCapacity } from './meterCapacity.ts';

describeWithDynamo('DynamoDB', () => {
  adminStoreContract(
    'dynamodb',
    dynamoStore((stores) => stores),
  );

  // Shows ADMIN-8.
  test('twenty relayers and ten chains cost at most twenty read units', async () => {
    await using rig = await createDynamoRig();
    const client = rig.openClient();
    const meter = meterCapacity(client);
    const { requests, admin } = rig.open({ client });
    for (let n = 0; n < 20; n++) {
      const record = pendingRequest({ chainName: `eip155:${n % 10}`, createdAt: START + n * 60_000 });
      const relayer = anyAddress();
      await requests.create(record);
      await requests.claim(claimOf(record, { relayer }));
      if (n % 2 === 0) await requests.report(reportOf(record, { relayer, now: START + n * 90_000 }));
      await requests.create(pendingRequest());
    }
    await admin.readStats(START);
    meter.reset();
    const { relayers, chains } = await admin.readStats(START);
    expect(relayers).toHaveLength(20);
    expect(chains.length).toBeGreaterThan(10);
    expect(meter.reads).toBeLessThanOrEqual(20);
  });
});
