import type { ProxiedCall } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoRig, describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';
import { meterCapacity } from './createDynamoClient.ts';

describeWithDynamo('DynamoDB', () => {
  adminStoreContract(
    'dynamodb',
    dynamoStore((stores) => stores),
  );

  // Shows ADMIN-8.
  test('twenty relayers, and as many chains as are counted apart, cost at most twenty read units', async () => {
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
    }
    const longName = (n: number) => `eip155:${String(n).padStart(57, '0')}`;
    await Promise.all(
      Array.from({ length: 210 }, (_, n) => requests.create(pendingRequest({ chainName: longName(n) }))),
    );
    await admin.readStats(START);
    meter.reset();
    const { relayers, chains } = await admin.readStats(START);
    expect(relayers).toHaveLength(20);
    expect(chains.length).toBeGreaterThanOrEqual(200);
    expect(meter.reads).toBeLessThanOrEqual(20);
  });

  // Shows ADMIN-11.
  test('an act whose answer was lost is noted once, and leaves no gap', async () => {
    await using rig = await createDynamoRig();
    const admins = [rig.open().admin, rig.open().admin];
    let writes = 0;
    const isThirdWrite = ({ headers }: ProxiedCall) =>
      /PutItem|UpdateItem/.test(`${headers['x-amz-target']}`) && ++writes % 3 === 0;
    // It is done, and the answer is lost.
    rig.proxy.planFaults(Array(16).fill('cutAfter'), isThirdWrite);
    const noted = await Promise.all(
      admins.map(async (admin, writer) => {
        const numbers = [];
        for (let n = 0; n < 12; n++) {
          const act = { at: START, act: 'requests.fail', keyId: 'k', target: `${writer} ${n}` };
          numbers.push(await admin.noteAct(act));
        }
        return numbers;
      }),
    );
    expect(rig.proxy.counts.cutAfter).toBe(16);
    expect(noted.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
    const { items } = await rig.open().admin.listActs({ limit: 100 });
    const expected = [0, 1].flatMap((writer) => Array.from({ length: 12 }, (_, n) => `${writer} ${n}`));
    expect(items.map(({ target }) => target).sort()).toEqual(expected.sort());
  });
});
