import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DYNAMO_TEST_ACCESS, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimOf, pendingRequest, reportOf } from '../../../packages/gateway/test/contracts/storedRequests.ts';
import { newWebhook } from '../../../packages/gateway/test/contracts/webhookStoreContract.ts';
import { createDynamoOutbox, type DynamoOutbox } from '../../../packages/gateway/test/rigs/createDynamoOutbox.ts';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  type DynamoRig,
  describeWithDynamo,
} from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { type Queue, type QueueMessage, startQueue } from '../../../packages/gateway/test/rigs/startQueue.ts';
import { type Receiver, startReceiver } from '../../../packages/gateway/test/rigs/startReceiver.ts';
import { bundleWebhooks } from '../../../scripts/lambda/bundleWebhooks.ts';
import { alarmNamed } from '../rig/alarmNamed.ts';
import { isRaised, type Point } from '../rig/alarms.ts';
import { planThrottles } from '../rig/planThrottles.ts';
import { findResources } from '../rig/readTemplate.ts';

const MINUTE = 60_000;

/** Points of metrics, and what is raised by them; time passes as it is asked to. */
function createPlay() {
  const points: Point[] = [];
  let at = 60 * MINUTE;
  return {
    now: () => at,
    pass: (minutes: number) => {
      at += minutes * MINUTE;
    },
    add: (point: Omit<Point, 'at'>) => points.push({ ...point, at }),
    isRaised: (name: string) => isRaised(alarmNamed(name), points, at),
  };
}

describeWithDynamo('alarms of webhooks, played with the built functions', () => {
  let folder: string;
  let rig: DynamoRig;
  let outbox: DynamoOutbox;
  let queue: Queue;
  let receiver: Receiver;
  let worker: RunningFunction;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'prism-webhooks-'));
    const { file } = await bundleWebhooks({ code: join(folder, 'code'), maps: join(folder, 'maps') });
    [rig, queue, receiver] = await Promise.all([createDynamoRig(), startQueue(), startReceiver()]);
    outbox = createDynamoOutbox(rig);
    worker = await startFunction({
      file,
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: DYNAMO_TEST_ACCESS.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: DYNAMO_TEST_ACCESS.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_DYNAMODB: rig.proxy.url,
        REQUESTS_TABLE: DYNAMO_TABLES.requests,
        DELIVERIES_TABLE: DYNAMO_DELIVERIES,
        WEBHOOKS_QUEUE_URL: queue.url,
        WEBHOOKS_ALLOW_PRIVATE: 'true',
      },
    });
    const webhook = newWebhook({ url: receiver.url, now: Date.now() });
    receiver.trust(webhook.secret);
    await outbox.webhooks.add(webhook);
  });
  afterAll(async () => {
    await worker.close();
    await Promise.all([rig.dispose(), queue[Symbol.asyncDispose](), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** A whole life, and what the stream tells of it. */
  async function live() {
    await outbox.stream.read();
    const record = pendingRequest({ createdAt: Date.now() });
    const claim = claimOf(record, { now: Date.now() });
    await outbox.requests.create(record);
    await outbox.requests.claim(claim);
    await outbox.requests.report(reportOf(record, { relayer: claim.relayer, now: Date.now() }));
    const read = await outbox.stream.read();
    return { ...record, Records: read.map((one) => ({ ...one, eventSource: 'aws:dynamodb' })) };
  }

  const reported = (requestId: string) =>
    receiver.received.filter(({ message }) => message.data.requestId === requestId).length;

  /** Has the table of deliveries throttle. */
  const throttle = (play: ReturnType<typeof createPlay>) =>
    planThrottles(rig.proxy, {
      isAffected: ({ tableName }) => tableName === DYNAMO_DELIVERIES,
      note: (name) =>
        play.add({
          ...{ namespace: 'AWS/DynamoDB', name, value: 1 },
          dimensions: { TableName: 'service-deliveries-prod' },
        }),
    });

  it('DeliveriesThrottles and WebhookIteratorAge: while the table of deliveries throttles', async () => {
    const play = createPlay();
    const names = ['DeliveriesThrottles', 'WebhookIteratorAge', 'RequestsThrottles', 'WebhookDeadLetters'];
    const raised = () => names.filter(play.isRaised);
    /** Lambda tells the age of a batch with each try. */
    const record = async (Records: readonly object[], movedAt: number) => {
      play.add({ namespace: 'AWS/Lambda', name: 'IteratorAge', value: play.now() - movedAt });
      return await worker.invoke({ Records }).then(
        () => 'recorded',
        () => 'failed',
      );
    };
    const { requestId, Records } = await live();
    const movedAt = play.now();
    const throttled = throttle(play);
    // At minutes 0, 1, 6 and 9.
    for (const pause of [1, 5, 3, 1]) {
      expect(await record(Records, movedAt)).toBe('failed');
      expect(raised()).toEqual([]);
      play.pass(pause);
    }
    expect(raised()).toEqual(['DeliveriesThrottles', 'WebhookIteratorAge']);
    throttled.end();
    expect(await record(Records, movedAt)).toBe('recorded');
    play.pass(1);
    const next = await live();
    expect(await record(next.Records, play.now())).toBe('recorded');
    play.pass(4);
    expect(raised()).toEqual([]);
    await worker.invoke({ source: 'aws.events' });
    expect([reported(requestId), reported(next.requestId)]).toEqual([3, 3]);
  });

  it('WebhookDeadLetters: from the last try of a message until it is taken away', async () => {
    const play = createPlay();
    const policies = Object.values(findResources('prod', 'AWS::SQS::Queue')).map(
      ({ Properties }) => Properties.RedrivePolicy as { readonly maxReceiveCount: number } | undefined,
    );
    const tries = policies.find((policy) => policy !== undefined)?.maxReceiveCount ?? 0;
    expect(tries).toBeGreaterThan(1);
    const deadLetters: QueueMessage[] = [];
    const count = () => {
      const value = deadLetters.length;
      play.add({ namespace: 'AWS/SQS', name: 'ApproximateNumberOfMessagesVisible', value });
      play.pass(1);
    };
    queue.receive();
    const { requestId, Records } = await live();
    await worker.invoke({ Records });
    const throttled = throttle(play);
    const messages = queue.receive();
    expect(messages).toHaveLength(1);
    for (let i = 0; i < tries; i++) {
      count();
      expect(play.isRaised('WebhookDeadLetters')).toBe(false);
      const result = await worker.invoke({ Records: messages });
      expect(result).toEqual({ batchItemFailures: messages.map(({ messageId }) => ({ itemIdentifier: messageId })) });
    }
    // Which is what the queue does with it now.
    deadLetters.push(...messages);
    count();
    expect(play.isRaised('WebhookDeadLetters')).toBe(true);
    throttled.end();
    // The look of the next minute makes up for it.
    await worker.invoke({ source: 'aws.events' });
    expect(reported(requestId)).toBe(3);
    deadLetters.length = 0;
    count();
    expect(play.isRaised('WebhookDeadLetters')).toBe(false);
  });
});
