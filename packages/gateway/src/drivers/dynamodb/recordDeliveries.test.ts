import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bodyOf, LATER, useOutbox } from '../../../test/contracts/deliveryQueueContract.ts';
import { claimOf, pendingRequest, reportOf } from '../../../test/contracts/storedRequests.ts';
import { createDynamoOutbox, type DynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import { createDynamoRig, type DynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import type { StreamRecord } from './recordStats.ts';

describeWithDynamo('what the stream tells', () => {
  let rig: DynamoRig;
  let outbox: DynamoOutbox;
  beforeAll(async () => {
    rig = await createDynamoRig();
    outbox = createDynamoOutbox(rig);
  });
  afterAll(() => rig.dispose());
  const { add, take, finalize, removeAll } = useOutbox(() => outbox);
  afterEach(removeAll);

  /** A whole life. @returns its records of the stream */
  async function live(): Promise<readonly StreamRecord[]> {
    await outbox.stream.read();
    const record = pendingRequest();
    const claim = claimOf(record);
    await outbox.requests.create(record);
    await outbox.requests.claim(claim);
    await outbox.requests.report(reportOf(record, { relayer: claim.relayer }));
    return await outbox.stream.read();
  }

  async function deliverAll(): Promise<string[]> {
    const reported: string[] = [];
    for (let taken = await take(); taken.length > 0; taken = await take()) {
      reported.push(...taken.map((one) => bodyOf(one).type.slice('request.'.length)));
      await finalize(taken);
    }
    return reported;
  }

  // Shows WEBHOOK-5.
  test('is delivered once and in order, however often, in whatever parts and order it comes', async () => {
    const webhookId = await add();
    const records = await live();
    outbox.woken.length = 0;
    // A function that was killed half-way through a batch is given all of it again; rivals are given it too.
    await outbox.recorder.record(records.slice(0, 2));
    await Promise.all([outbox.recorder.record(records), outbox.recorder.record(records.toReversed())]);
    expect(new Set(outbox.woken)).toEqual(new Set([webhookId]));
    expect(await deliverAll()).toEqual(['created', 'claimed', 'succeeded']);
    // What comes once more after it was delivered is known.
    await outbox.recorder.record(records);
    expect(await deliverAll()).toEqual([]);
    const all = await outbox.webhooks.listDeliveries({ webhookId, limit: 10 });
    expect(all?.map(({ status, attempts }) => [status, attempts])).toEqual(Array(3).fill(['delivered', 1]));
  });

  test('wakes nobody where no webhook wants it, and passes over what nobody here has written', async () => {
    await add({ events: ['request.released'] });
    const records = await live();
    outbox.woken.length = 0;
    const odd: StreamRecord = { dynamodb: { NewImage: { status: { S: 'pending' } } } };
    await outbox.recorder.record([odd, ...records]);
    expect(outbox.woken).toEqual([]);
    expect(await deliverAll()).toEqual([]);
  });

  // Shows WEBHOOK-1.
  test('tells a webhook nothing of moves long before it was registered', async () => {
    const records = await live();
    await add({ now: LATER + 120_000 });
    await outbox.recorder.record(records);
    expect(await deliverAll()).toEqual([]);
    await removeAll();
    await add({ now: LATER });
    await outbox.recorder.record(records);
    expect(await deliverAll()).toEqual(['created', 'claimed', 'succeeded']);
  });

  // Shows WEBHOOK-9.
  test('finds no room behind too many that wait; strangers’ posts fill half of it', async () => {
    const webhookId = await add();
    const small = createDynamoOutbox(rig, { maxWaiting: 4 });
    const lives = [await live(), await live()];
    for (const records of lives) await small.recorder.record(records);
    const { health } = (await outbox.webhooks.find(webhookId)) ?? {};
    // Of the second life, neither the post nor, once there are four, its end.
    expect(health).toMatchObject({ waiting: 4, dropped: 2, droppedAt: LATER });
  });
});
