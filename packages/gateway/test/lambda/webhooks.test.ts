import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DYNAMO_TEST_ACCESS, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bundleWebhooks, MAX_WEBHOOKS_BYTES } from '../../../../scripts/lambda/bundleWebhooks.ts';
import { claimOf, pendingRequest, reportOf } from '../contracts/storedRequests.ts';
import { newWebhook } from '../contracts/webhookStoreContract.ts';
import { createDynamoOutbox, type DynamoOutbox } from '../rigs/createDynamoOutbox.ts';
import {
  createDynamoRig,
  DYNAMO_DELIVERIES,
  DYNAMO_TABLES,
  type DynamoRig,
  describeWithDynamo,
} from '../rigs/dynamoStores.ts';
import { type Queue, type QueueMessage, startQueue } from '../rigs/startQueue.ts';
import { type Receiver, startReceiver } from '../rigs/startReceiver.ts';

const POLL_MS = 20;
const ALL_KINDS = newWebhook().events;

describeWithDynamo('the functions that deliver', () => {
  let folder: string;
  let file: string;
  let bytes: number;
  let rig: DynamoRig;
  let outbox: DynamoOutbox;
  let queue: Queue;
  let receiver: Receiver;
  const running: RunningFunction[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'prism-webhooks-'));
    ({ file, bytes } = await bundleWebhooks({ code: join(folder, 'code'), maps: join(folder, 'maps') }));
    rig = await createDynamoRig();
    outbox = createDynamoOutbox(rig);
    queue = await startQueue();
    receiver = await startReceiver();
  });
  afterEach(async () => {
    for (const { webhookId } of await outbox.webhooks.list()) await outbox.webhooks.remove(webhookId);
    receiver.answer(204);
    queue.fail(undefined);
    queue.receive();
  });
  afterAll(async () => {
    await Promise.all(running.map((one) => one.close()));
    await Promise.all([rig.dispose(), queue[Symbol.asyncDispose](), receiver.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  async function start(env: Record<string, string> = {}): Promise<RunningFunction> {
    const started = await startFunction({
      file,
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: DYNAMO_TEST_ACCESS.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: DYNAMO_TEST_ACCESS.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_DYNAMODB: rig.endpoint,
        REQUESTS_TABLE: DYNAMO_TABLES.requests,
        DELIVERIES_TABLE: DYNAMO_DELIVERIES,
        WEBHOOKS_QUEUE_URL: queue.url,
        WEBHOOKS_ALLOW_PRIVATE: 'true',
        ...env,
      },
    });
    running.push(started);
    return started;
  }

  const register = async (fields: Parameters<typeof newWebhook>[0] = {}) => {
    const webhook = newWebhook({ url: receiver.url, now: Date.now(), ...fields });
    await outbox.webhooks.add(webhook);
    return webhook;
  };
  const streamOf = async () =>
    (await outbox.stream.read()).map((record) => ({ ...record, eventSource: 'aws:dynamodb' }));

  /** A whole life. @returns its records of the stream */
  async function live() {
    await outbox.stream.read();
    const record = pendingRequest({ createdAt: Date.now() });
    const claim = claimOf(record, { now: Date.now() });
    await outbox.requests.create(record);
    await outbox.requests.claim(claim);
    await outbox.requests.report(reportOf(record, { relayer: claim.relayer, now: Date.now() }));
    return { requestId: record.requestId, Records: await streamOf() };
  }

  /** Hands messages to the function as Lambda does, until `isDone`. */
  async function deliver(one: RunningFunction, isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const messages = queue.receive();
      if (messages.length > 0) {
        const { batchItemFailures } = (await one.invoke({ Records: messages })) as {
          batchItemFailures: { itemIdentifier: string }[];
        };
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        queue.putBack(messages.filter(({ messageId }: QueueMessage) => failed.has(messageId)));
      } else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  const notifiedOf = (requestId: string) =>
    receiver.received
      .filter(({ message }) => message.data.requestId === requestId)
      .map(({ message }) => message.type.slice('request.'.length));

  // Shows WEBHOOK-4, WEBHOOK-5.
  test('the library of the specification verifies what the engine’s stream tells, in order', async () => {
    expect(bytes).toBeLessThanOrEqual(MAX_WEBHOOKS_BYTES);
    const [recorder, deliverer] = await Promise.all([start(), start()]);
    const { secret, webhookId } = await register({ events: ALL_KINDS });
    receiver.trust(secret);
    const { requestId, Records } = await live();
    await recorder.invoke({ Records });
    await deliver(deliverer, () => notifiedOf(requestId).length === 3);
    expect(notifiedOf(requestId)).toEqual(['created', 'claimed', 'succeeded']);
    const listed = await outbox.webhooks.listDeliveries({ webhookId, limit: 9 });
    expect(listed?.map(({ status, lastStatus }) => [status, lastStatus])).toEqual(Array(3).fill(['delivered', 204]));
    expect((await deliverer.readOutput()).join('\n')).not.toContain(secret);
  });

  // Shows WEBHOOK-6.
  test('what is refused is tried again after the queue’s delay, and the next of its request waits', async () => {
    const one = await start();
    const { secret } = await register({ events: ALL_KINDS });
    receiver.trust(secret);
    receiver.answer(500);
    const { requestId, Records } = await live();
    await one.invoke({ Records });
    const before = receiver.attempts();
    await deliver(one, () => receiver.attempts() >= before + 2);
    expect(queue.delays.at(-1)).toBeGreaterThan(0);
    expect(notifiedOf(requestId)).toEqual([]);
    receiver.answer(204);
    await deliver(one, () => notifiedOf(requestId).length === 3);
    expect(notifiedOf(requestId)).toEqual(['created', 'claimed', 'succeeded']);
  });

  // Shows WEBHOOK-5.
  test('a batch whose function was killed comes again; a queue that takes nothing fails the batch', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const { secret } = await register({ events: ALL_KINDS });
    receiver.trust(secret);
    const { requestId, Records } = await live();
    queue.fail(503);
    await expect(first.invoke({ Records })).rejects.toThrow('The queue took no message: 503');
    void first.invoke({ Records }).catch(() => undefined);
    await first.close();
    running.splice(running.indexOf(first), 1);
    queue.fail(undefined);
    await second.invoke({ Records });
    await deliver(second, () => notifiedOf(requestId).length === 3);
    expect(notifiedOf(requestId)).toEqual(['created', 'claimed', 'succeeded']);
  });

  test('a lost message is made up for by the look of each minute', async () => {
    const one = await start();
    const { secret } = await register({ events: ['request.created'] });
    receiver.trust(secret);
    const { requestId, Records } = await live();
    await one.invoke({ Records });
    queue.receive();
    await one.invoke({ source: 'aws.events' });
    expect(notifiedOf(requestId)).toEqual(['created']);
  });

  // Shows WEBHOOK-3.
  test('a private address is refused where it is connected to, and the delivery says so', async () => {
    const one = await start({ WEBHOOKS_ALLOW_PRIVATE: 'false' });
    const { webhookId } = await register({ url: 'https://localhost:1/', events: ['request.created'] });
    const { Records } = await live();
    await one.invoke({ Records });
    await one.invoke({ source: 'aws.events' });
    const [delivery] = (await outbox.webhooks.listDeliveries({ webhookId, limit: 1 })) ?? [];
    expect(delivery).toMatchObject({ status: 'waiting', attempts: 1, lastError: expect.stringMatching(/private/) });
  });
});
