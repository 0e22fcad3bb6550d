import { DatabaseSync } from 'node:sqlite';
import { createFakeClock, type FakeClock } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claimOf, pendingRequest, reportOf } from '../../test/contracts/storedRequests.ts';
import { newWebhook } from '../../test/contracts/webhookStoreContract.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import { type Receiver, startReceiver } from '../../test/rigs/startReceiver.ts';
import type { SqliteStores } from '../drivers/sqlite/openSqliteStores.ts';
import { createWebhookPost } from '../drivers/webhooks/createWebhookPost.ts';
import { type Dispatcher, startDispatcher } from './startDispatcher.ts';

const relayer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** Longer than anything under way takes, in milliseconds. */
const STILL_MS = 2000;

describe('deliveries', () => {
  let rig: SqliteRig;
  let stores: SqliteStores;
  let receiver: Receiver;
  let clock: FakeClock;
  let lines: string[];
  const running: { dispatcher: Dispatcher; post: ReturnType<typeof createWebhookPost> }[] = [];
  beforeEach(async () => {
    rig = await createSqliteRig();
    stores = rig.open();
    receiver = await startReceiver();
    // The library looks at the machine's clock.
    clock = createFakeClock(Date.now());
    lines = [];
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await end(one);
    await receiver.close();
    await rig.dispose();
  });

  const note = (facts: unknown) => lines.push(JSON.stringify(facts));
  const logger = { debug: note, info: note, warn: note, error: note };
  // The clock stands: a delivery that failed because the machine is slow would never be tried again.
  const start = ({ deliveries: queue }: SqliteStores = stores) => {
    const post = createWebhookPost({ allowPrivate: true, timeoutMs: 60_000 });
    const one = { post, dispatcher: startDispatcher({ queue, post, logger, now: clock.now }) };
    running.push(one);
    return one;
  };
  const end = async ({ dispatcher, post }: (typeof running)[number]) => {
    await dispatcher.close();
    post.close();
  };
  const add = async (fields = {}) => {
    const webhook = newWebhook({ url: receiver.url, ...fields });
    await stores.webhooks.add(webhook);
    return webhook;
  };
  const create = async (by = stores) => {
    const record = pendingRequest({ createdAt: clock.now() });
    await by.requests.create(record);
    return record;
  };
  const live = async (by = stores, later = stores) => {
    const record = await create(by);
    await later.requests.claim(claimOf(record, { relayer, now: clock.now() }));
    await by.requests.report(reportOf(record, { relayer, now: clock.now() }));
    return record.requestId;
  };
  /**
   * Waits until all that the receiver has seen is written down. What was under way when the clock was moved beyond its hold never is:
   * then nothing changes any more.
   */
  const finalized = async (webhookId: string) => {
    const attempts = async () => {
      const all = await stores.webhooks.listDeliveries({ webhookId, limit: 100 });
      return all?.reduce((sum, one) => sum + one.attempts, 0);
    };
    let last = '';
    let since = performance.now();
    for (;;) {
      const [written, seen] = [await attempts(), receiver.attempts()];
      if (written === seen) return;
      const now = `${written} ${seen}`;
      if (now !== last) [last, since] = [now, performance.now()];
      if (performance.now() - since > STILL_MS) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  /** Moves the clock, ten minutes at a time, until something is done: the pause before the next attempt may be longer. */
  const advanceUntil = async (isDone: () => boolean) => {
    while (!isDone()) {
      clock.advance(600_000);
      const since = performance.now();
      while (!isDone() && performance.now() - since < STILL_MS) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const reported = () =>
    receiver.received.map(({ message: { type, data } }) => `${data.requestId} ${type.slice('request.'.length)}`);
  const storyOf = (requestId: string) => reported().filter((line) => line.startsWith(requestId));
  const whole = (id: string) => [`${id} created`, `${id} claimed`, `${id} succeeded`];

  // Shows WEBHOOK-4, WEBHOOK-5, WEBHOOK-7.
  test('the library of the specification verifies all that comes, in order a request, before and after a rotation', async () => {
    const { webhookId, secret } = await add();
    receiver.trust(secret);
    start();
    const ids = await Promise.all(Array.from({ length: 8 }, () => live()));
    await receiver.waitFor(24);
    for (const id of ids) expect(storyOf(id)).toEqual(whole(id));
    const next = newWebhook().secret;
    await stores.webhooks.rotate({ webhookId, secret: next, now: clock.now() });
    await live();
    await receiver.waitFor(27);
    receiver.trust(next);
    await live();
    await receiver.waitFor(30);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(30);
    expect(lines.join()).not.toContain(secret.slice('whsec_'.length));
  });

  // Shows WEBHOOK-5, WEBHOOK-6.
  test('a receiver that is down for an hour gets all, each request in order, and the log says both', async () => {
    const { webhookId } = await add();
    receiver.answer(503);
    start();
    const ids = await Promise.all(Array.from({ length: 5 }, () => live()));
    for (let minutes = 0; minutes < 60; minutes += 10) {
      const before = receiver.attempts();
      // A pause begins when the attempt is written down.
      await finalized(webhookId);
      // A commit of this process makes it look; otherwise it does once a second.
      await create();
      await advanceUntil(() => receiver.attempts() > before);
    }
    expect(reported()).toEqual([]);
    expect((await stores.webhooks.find(webhookId))?.health).toMatchObject({
      waiting: 21,
      failingSince: expect.any(Number),
    });
    receiver.answer(204);
    await live();
    await advanceUntil(() => receiver.received.length >= 24);
    for (const id of ids) expect(storyOf(id)).toEqual(whole(id));
    const notices = lines.map((line) => JSON.parse(line)).filter(({ code }) => code === 'WEBHOOK');
    expect(notices.map((one) => one.kind)).toEqual(['failing', 'recovered']);
  });

  // Shows WEBHOOK-5.
  test('two processes on one file deliver each event once', async () => {
    await add();
    const other = rig.open();
    start();
    start(other);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(n % 2 === 0 ? await live(stores, other) : await live(other, stores));
    await receiver.waitFor(18);
    for (const id of ids) expect(storyOf(id)).toEqual(whole(id));
    expect(receiver.attempts()).toBe(18);
  });

  // Shows WEBHOOK-5.
  test('what is under way when the process ends is made by the next one at once', async () => {
    await add({ events: ['request.created'] });
    receiver.answer('hang');
    const first = start();
    await create();
    await receiver.waitForAttempts(1);
    running.splice(0);
    await end(first);
    receiver.answer(204);
    start();
    await receiver.waitFor(1);
    expect(receiver.attempts()).toBe(2);
  });

  // Shows WEBHOOK-9.
  test('events that find no room are reported in the log, once in a while', async () => {
    await add({ events: ['request.created'] });
    start();
    await live();
    await receiver.waitFor(1);
    const database = new DatabaseSync(rig.file, { timeout: 5000 });
    database.exec('UPDATE "service-requests-test.webhooks" SET waiting = 10000');
    database.close();
    await Promise.all([create(), create(), create()]);
    const dropped = () => lines.filter((line) => line.includes('"kind":"dropped"'));
    while (dropped().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await create();
    expect(dropped()).toEqual([expect.stringMatching(/"events":[123]}/)]);
  });

  test('a slow receiver holds up no other', async () => {
    const other = await startReceiver();
    await add({ events: ['request.created'] });
    await add({ events: ['request.created'], url: other.url });
    receiver.answer('hang');
    start();
    await Promise.all(Array.from({ length: 30 }, () => create()));
    await other.waitFor(30);
    expect(receiver.attempts()).toBeLessThanOrEqual(16);
    await other.close();
  });
});
