import type { ProxiedCall } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { anyAddress, claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { createDynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import { createDynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { meterCapacity } from './createDynamoClient.ts';
import { MOST_CHAINS_APART } from './tableRegister.ts';

describeWithDynamo('DynamoDB', () => {
  adminStoreContract('dynamodb', async () => {
    const rig = await createDynamoRig();
    const { stream, stats } = createDynamoOutbox(rig);
    // Whoever reads the stream has counted all that was moved.
    const open = () => {
      const { admin, ...stores } = rig.open({ client: rig.openClient() });
      const readStats = async (now: number) => {
        await stats.record(await stream.read());
        return await admin.readStats(now);
      };
      return { ...stores, admin: { ...admin, readStats } };
    };
    return { store: open(), openPeer: async () => open(), cutOff: rig.stopEngine, dispose: rig.dispose };
  });

  // Shows ADMIN-8.
  test('twenty relayers, and as many chains as are counted apart, cost at most fifty read units', async () => {
    await using rig = await createDynamoRig();
    const { stream, stats } = createDynamoOutbox(rig);
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
    await stats.record(await stream.read());
    meter.reset();
    const { relayers, chains } = await admin.readStats(START);
    expect(relayers).toHaveLength(20);
    expect(chains.length).toBeGreaterThanOrEqual(200);
    // A call for each chain and shard, pending and processing, is most of it.
    expect(meter.reads).toBeLessThanOrEqual(50);
  });

  test('what strangers call their chains makes no count dearer: each is an item of one unit', async () => {
    await using rig = await createDynamoRig();
    const { stream, recorderMeter, stats } = createDynamoOutbox(rig);
    const { requests } = rig.open();
    const name = (n: number) => `x${String(n).padStart(63, '0')}`;
    await Promise.all(Array.from({ length: 210 }, (_, n) => requests.create(pendingRequest({ chainName: name(n) }))));
    // The item with the chains' names was written once for each that stands apart, when the table was first used, and once in vain.
    expect(rig.proxy.counts.passed).toBeLessThanOrEqual(210 + MOST_CHAINS_APART + 12);
    await stats.record(await stream.read());
    const record = pendingRequest({ chainName: name(0) });
    await requests.create(record);
    recorderMeter.reset();
    await stats.record(await stream.read());
    // Its chain, its minute and its hour.
    expect(recorderMeter.writes).toBe(3);
  });

  // Shows DYNAMO-12.
  test('a batch that comes again, whole or after a fault half-way, is counted once', async () => {
    await using rig = await createDynamoRig();
    const { stream, stats } = createDynamoOutbox(rig);
    const { requests, admin } = rig.open();
    const [record, relayer] = [pendingRequest(), anyAddress()];
    await requests.create(record);
    await requests.claim(claimOf(record, { relayer }));
    const batch = await stream.read();
    await Promise.allSettled([stats.record(batch), stats.record(batch)]);
    await stats.record(batch);
    const { chains, relayers, minutes } = await admin.readStats(START + 5000);
    expect(chains).toMatchObject([{ chainName: record.chainName, pending: 0, processing: 1 }]);
    expect(relayers).toMatchObject([{ openClaims: 1 }]);
    expect(minutes).toMatchObject([{ posts: 1, claims: 1 }]);
  });

  test('a claim that lapses and goes to another relayer is open once, and a renewed one too', async () => {
    await using rig = await createDynamoRig();
    const { stream, stats } = createDynamoOutbox(rig);
    const { requests, admin } = rig.open();
    const [record, first, second] = [pendingRequest(), anyAddress(), anyAddress()];
    await requests.create(record);
    await requests.claim(claimOf(record, { relayer: first }));
    await requests.claimAll([claimOf(record, { relayer: first })]);
    const now = START + 90_000;
    await requests.claim(claimOf(record, { relayer: second, now, leaseExpiredAt: now - 1 }));
    await stats.record(await stream.read());
    const { relayers } = await admin.readStats(now);
    const openOf = (address: string) => relayers.find((one) => one.address === address.toLowerCase())?.openClaims;
    expect([openOf(first), openOf(second)]).toEqual([0, 1]);
  });

  // Shows ADMIN-11.
  test('an act whose answer was lost is noted once, and its number is nobody else’s', async () => {
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
          numbers.push(await admin.recordAct(act));
        }
        return numbers;
      }),
    );
    expect(rig.proxy.counts.cutAfter).toBe(16);
    expect(new Set(noted.flat()).size).toBe(24);
    for (const numbers of noted) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    const { items } = await rig.open().admin.listActs({ limit: 100 });
    const expected = [0, 1].flatMap((writer) => Array.from({ length: 12 }, (_, n) => `${writer} ${n}`));
    expect(items.map(({ target }) => target).sort()).toEqual(expected.sort());
  });
});
