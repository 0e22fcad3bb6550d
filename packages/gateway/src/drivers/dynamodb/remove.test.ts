import { randomBytes } from 'node:crypto';
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { ProxiedCall } from '@prism-gateway/testing';
import { beforeAll, expect, test } from 'vitest';
import { anyChain, claimOf, pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createDynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import { createDynamoRig, DYNAMO_TABLES, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';

const largeRequest = (): StoredRequest =>
  pendingRequest({
    chainName: anyChain(),
    paramsJson: JSON.stringify({ payload: `0x${randomBytes(20_000).toString('hex')}` }),
  });

const isWrite = ({ headers }: ProxiedCall) => /Delete|Put|Update|Transact/.test(`${headers['x-amz-target']}`);

describeWithDynamo('a removal', () => {
  let rig: DynamoRig;
  let raw: DynamoDBClient;
  beforeAll(async () => {
    rig = await createDynamoRig();
    raw = rig.openClient();
    return rig.dispose;
  });

  /** How much is left in the table: heads of a chain, and params of all. */
  async function look({ chainName }: StoredRequest) {
    const { Items = [] } = await raw.send(new ScanCommand({ TableName: DYNAMO_TABLES.requests }));
    return {
      heads: Items.filter((item) => item.chainName?.S === chainName).length,
      params: Items.filter((item) => item.chainName === undefined && item.params !== undefined).length,
    };
  }

  // Shows ADMIN-7.
  test.each([1, 2])(
    'whose process dies before its write number %i leaves nothing that shows, and nothing for long',
    async (last) => {
      const { stream, stats } = createDynamoOutbox(rig);
      const record = largeRequest();
      const { requests, admin } = rig.open();
      await requests.create(record);
      const before = await look(record);
      await stream.read();
      let writes = 0;
      // A process that has died asks no more.
      rig.proxy.planFaults(Array(20).fill('cutBefore'), (call) => isWrite(call) && ++writes >= last);
      await admin.remove(record.requestId).catch(() => undefined);
      rig.proxy.planFaults([]);
      const isGone = (await requests.get(record.requestId)) === undefined;
      expect(isGone).toBe(last === 2);
      if (!isGone) await admin.remove(record.requestId);
      await stats.record(await stream.read());
      expect(await look(record)).toEqual({ heads: 0, params: before.params - 1 });
    },
  );

  test('whose answers were lost is done once, and says so', async () => {
    const record = largeRequest();
    const { requests, admin } = rig.open();
    await requests.create(record);
    const { params } = await look(record);
    rig.proxy.planFaults(Array(2).fill('cutAfter'), isWrite);
    expect(await admin.remove(record.requestId)).toBe('removed');
    expect(rig.proxy.planned()).toBe(0);
    expect(await look(record)).toEqual({ heads: 0, params: params - 1 });
  });

  test('beside claims never takes what is held, and tells the truth', async () => {
    const stores = rig.open();
    const records = Array.from({ length: 20 }, largeRequest);
    for (const record of records) await stores.requests.create(record);
    for (const record of records) {
      const [removal, claim] = await Promise.all([
        rig.open().admin.remove(record.requestId),
        stores.requests.claim(claimOf(record)),
      ]);
      const left = await stores.requests.get(record.requestId);
      expect([removal, claim.outcome, left?.status]).toEqual(
        removal === 'removed' ? ['removed', 'missing', undefined] : ['claimed', 'moved', 'processing'],
      );
    }
  });
});
