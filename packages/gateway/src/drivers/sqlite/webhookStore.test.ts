import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { claimOf, pendingRequest, reportOf, START } from '../../../test/contracts/storedRequests.ts';
import { newWebhook, webhookStoreContract } from '../../../test/contracts/webhookStoreContract.ts';
import { createSqliteRig, type SqliteRig, sqliteStore } from '../../../test/rigs/sqliteStores.ts';
import type { DeliveryOutcome, NewWebhook, TakenDelivery } from '../../ports/webhookStore.ts';
import type { SqliteStores } from './openSqliteStores.ts';

const DAY_MS = 86_400_000;
const LATER = START + 10_000;

webhookStoreContract(
  'sqlite',
  sqliteStore(({ webhooks }) => webhooks),
);

const bodyOf = ({ body }: TakenDelivery) => JSON.parse(body);
const typesOf = (taken: readonly TakenDelivery[]) => taken.map((one) => bodyOf(one).type);

describe('the outbox', () => {
  let rig: SqliteRig;
  let stores: SqliteStores;
  beforeAll(async () => {
    rig = await createSqliteRig();
    stores = rig.open();
  });
  afterEach(async () => {
    for (const { webhookId } of await stores.webhooks.list()) await stores.webhooks.remove(webhookId);
  });
  afterAll(() => rig.dispose());

  const add = async (fields: Partial<NewWebhook> = {}) => {
    const webhook = newWebhook(fields);
    await stores.webhooks.add(webhook);
    return webhook.webhookId;
  };
  const take = (now = LATER, perWebhook = 100) =>
    stores.deliveries.take({ now, holdMs: 15_000, perWebhook, underWay: {} });
  const settle = (taken: readonly TakenDelivery[], outcome: Partial<DeliveryOutcome> = {}, now = LATER) => {
    const made = { outcome: 'delivered', status: 200 } as const;
    const outcomes = taken.map(({ deliveryId, webhookId }) => ({ deliveryId, webhookId, ...made, ...outcome }));
    return stores.deliveries.settle({ now, outcomes });
  };
  const refuse = (taken: readonly TakenDelivery[], now: number) =>
    settle(taken, { outcome: 'refused', status: 500, error: 'It answered 500.' }, now);
  const healthOf = async (webhookId: string) => (await stores.webhooks.find(webhookId))?.health;
  /** Changes the file as no call does. */
  const patch = (sql: string) => {
    const database = new DatabaseSync(rig.file);
    database.exec(sql);
    database.close();
  };

  // Shows WEBHOOK-4, WEBHOOK-5.
  test('each move is an event of the record as it left it, and one request’s go out in order', async () => {
    await add();
    const record = pendingRequest();
    const relayer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record, { relayer }));
    await stores.requests.release({ requestId: record.requestId, relayer, releaseId: 'once', now: START + 1500 });
    await stores.requests.claim(claimOf(record, { relayer, now: START + 1600 }));
    const outcome = { status: 'failed', errorMessage: 'kein Gas\u0000 "💸"' } as const;
    await stores.requests.report(reportOf(record, { relayer, outcome }));
    const told = [];
    for (let taken = await take(); taken.length > 0; taken = await take()) {
      expect(taken).toHaveLength(1);
      told.push(...taken.map(bodyOf));
      await settle(taken);
    }
    expect(told.map(({ type }) => type.slice('request.'.length))).toEqual(
      ['created', 'claimed', 'released', 'claimed', 'failed'], // in the order of the moves
    );
    const { requestId, chainName, action, signer } = record;
    expect(told[0]).toEqual({
      ...{ type: 'request.created', timestamp: new Date(START).toISOString() },
      data: {
        ...{ requestId, chainName, action, signer, status: 'pending' },
        ...{ createdAt: new Date(START).toISOString(), updatedAt: new Date(START).toISOString() },
      },
    });
    expect(told[4].data).toMatchObject({ status: 'failed', errorMessage: 'kein Gas\u0000 "💸"', claimedBy: relayer });
    expect(told[2].data).not.toHaveProperty('claimedBy');
  });

  // Shows WEBHOOK-1, WEBHOOK-2.
  test('a webhook is told of its kinds, chain and signer alone, and of nothing while it is disabled', async () => {
    const [mine, other] = [pendingRequest(), pendingRequest()];
    const ofChain = await add({ chainName: mine.chainName, events: ['request.created'] });
    const ofSigner = await add({ signer: other.signer.toLowerCase(), events: ['request.created'] });
    const ofClaims = await add({ events: ['request.claimed'] });
    const off = await add({ enabled: false });
    for (const record of [mine, other]) await stores.requests.create(record);
    await stores.requests.claim(claimOf(mine));
    const taken = await take();
    const told = (id: string) =>
      taken.filter(({ webhookId }) => webhookId === id).map((one) => [bodyOf(one).type, bodyOf(one).data.requestId]);
    expect(told(ofChain)).toEqual([['request.created', mine.requestId]]);
    expect(told(ofSigner)).toEqual([['request.created', other.requestId]]);
    expect(told(ofClaims)).toEqual([['request.claimed', mine.requestId]]);
    expect(told(off)).toEqual([]);
    expect(taken).toHaveLength(3);
  });

  // Shows WEBHOOK-5.
  test('what is taken is nobody else’s until its time is up, and then it is the same message', async () => {
    await add({ events: ['request.created'] });
    const rival = rig.open();
    for (let n = 0; n < 4; n++) await stores.requests.create(pendingRequest());
    const order = { now: LATER, holdMs: 15_000, perWebhook: 3, underWay: {} };
    const [one, two] = await Promise.all([stores.deliveries.take(order), rival.deliveries.take(order)]);
    const ids = [...one, ...two].map(({ messageId }) => messageId);
    expect(new Set(ids).size).toBe(4);
    expect(await rival.deliveries.take(order)).toEqual([]);
    // The first process dies. Its own is made by the other one, later.
    await settle(two);
    const again = await rival.deliveries.take({ ...order, now: LATER + 15_000 });
    expect(again.map(({ messageId, body }) => [messageId, body])).toEqual(
      one.map(({ messageId, body }) => [messageId, body]),
    );
  });

  // Shows WEBHOOK-5.
  test('a move that is not committed is told to nobody, and one that is survives the process', async () => {
    await add({ events: ['request.created', 'request.claimed'] });
    const record = pendingRequest();
    await stores.requests.create(record);
    const relayer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    await stores.requests.claim(claimOf(record, { relayer }));
    // Lost to a rival: nothing has moved.
    await stores.requests.claim(claimOf(record));
    await rig.close();
    stores = rig.open();
    expect(await stores.deliveries.nextDueAt()).toBe(START);
    const first = await take();
    expect(typesOf(first)).toEqual(['request.created']);
    await settle(first);
    const second = await take();
    expect(typesOf(second)).toEqual(['request.claimed']);
    await settle(second);
    expect(await take()).toEqual([]);
    expect(await stores.deliveries.nextDueAt()).toBeUndefined();
  });

  // Shows WEBHOOK-6.
  test('a receiver that fails is tried by one delivery at a time, ever later, and then by all at once', async () => {
    const webhookId = await add({ events: ['request.created'] });
    for (let n = 0; n < 6; n++) await stores.requests.create(pendingRequest());
    let now = LATER;
    const first = await take(now);
    expect(first).toHaveLength(6);
    expect(await refuse(first, now)).toEqual([]);
    const pauses: number[] = [];
    for (let tries = 0; tries < 9; tries++) {
      const dueAt = (await stores.deliveries.nextDueAt()) ?? 0;
      pauses.push((dueAt - now) / 1000);
      now = dueAt;
      const probe = await take(now);
      expect(probe).toHaveLength(1);
      expect(await take(now)).toEqual([]);
      const news = await refuse(probe, now);
      expect(news.map((one) => one.news)).toEqual(tries === 2 ? ['failing'] : []);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(await healthOf(webhookId)).toMatchObject({ waiting: 6, failingSince: LATER });
    now += 60_000;
    expect((await settle(await take(now), {}, now)).map(({ news }) => news)).toEqual(['recovered']);
    await settle(await take(now), {}, now);
    expect(await healthOf(webhookId)).toEqual({ waiting: 0, dropped: 0, deliveredAt: now });
  });

  // Shows WEBHOOK-6.
  test('after a day without success it is disabled and says so; enabled, what waited has another day', async () => {
    const webhookId = await add({ events: ['request.created'] });
    await stores.requests.create(pendingRequest());
    await refuse(await take(), LATER);
    expect(await refuse(await take(LATER + DAY_MS - 1), LATER + DAY_MS - 1)).toEqual([]);
    const end = LATER + DAY_MS + 60_000;
    const why = 'Nothing came through for a day: It answered 500.';
    expect(await refuse(await take(end), end)).toEqual([{ webhookId, news: 'disabled', why }]);
    const disabled = await stores.webhooks.find(webhookId);
    expect(disabled).toMatchObject({ enabled: false, health: { waiting: 1, disabledAt: end, disabledReason: why } });
    await stores.requests.create(pendingRequest());
    expect(await take(end + DAY_MS)).toEqual([]);
    expect(await stores.deliveries.nextDueAt()).toBeUndefined();
    const { url, events } = newWebhook();
    await stores.webhooks.change({ webhookId, target: { url, events, enabled: true }, now: end + 1 });
    const revived = await take(end + 1);
    expect(revived).toHaveLength(1);
    expect(await refuse(revived, end + 1)).toEqual([]);
    expect(await stores.webhooks.find(webhookId)).toMatchObject({ enabled: true, health: { waiting: 1 } });
  });

  // Shows WEBHOOK-6.
  test('one bad delivery among good ones is given up after a day, and the next of its request follows', async () => {
    const webhookId = await add();
    const record = pendingRequest();
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record));
    await refuse(await take(), LATER);
    const end = LATER + DAY_MS;
    await stores.requests.create(pendingRequest());
    await settle(
      (await take(LATER + 1000)).filter((one) => bodyOf(one).data.requestId !== record.requestId),
      {},
      end - 1,
    );
    patch(
      `UPDATE "service-requests-test.webhooks" SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0`,
    );
    const bad = await take(end);
    expect(
      (
        await refuse(
          bad.filter((one) => bodyOf(one).type === 'request.created'),
          end,
        )
      ).map(({ news }) => news),
    ).toEqual(['given up']);
    expect(typesOf(await take(end + 60_000))).toEqual(['request.claimed']);
    expect(await stores.webhooks.listDeliveries({ webhookId, status: 'failed', limit: 5 })).toMatchObject([
      { event: 'request.created', attempts: 2, lastStatus: 500 },
    ]);
  });

  // Shows WEBHOOK-6.
  test('410 disables at once', async () => {
    const webhookId = await add();
    await stores.requests.create(pendingRequest());
    const why = 'The receiver answered 410 Gone.';
    const gone = { outcome: 'refused', status: 410, error: 'It answered 410.' } as const;
    expect(await settle(await take(), gone)).toEqual([{ webhookId, news: 'disabled', why }]);
    expect(await stores.webhooks.find(webhookId)).toMatchObject({ enabled: false });
  });

  // Shows WEBHOOK-8.
  test('deliveries are listed newest first by pages; an ended one is sent again under its own id', async () => {
    const webhookId = await add({ events: ['request.created'] });
    for (let n = 0; n < 5; n++) await stores.requests.create(pendingRequest());
    const taken = await take();
    await settle(taken.slice(0, 4));
    const list = (more = {}) => stores.webhooks.listDeliveries({ webhookId, limit: 3, ...more });
    const [one, two, three, four, five] = taken.map(({ deliveryId }) => deliveryId);
    const idsOf = async (more = {}) => (await list(more))?.map(({ deliveryId }) => deliveryId);
    expect(await idsOf()).toEqual([five, four, three]);
    expect(await idsOf({ after: three })).toEqual([two, one]);
    expect(await idsOf({ status: 'waiting' })).toEqual([five]);
    const resend = (deliveryId = '') => stores.webhooks.resend({ webhookId, deliveryId, now: LATER });
    expect(await resend(five)).toBe('waiting');
    expect(await resend(String(Number(five) + 1))).toBe('missing');
    expect(await resend('x')).toBe('missing');
    expect(await resend(two)).toMatchObject({ deliveryId: two, status: 'waiting', attempts: 0 });
    expect((await take()).map(({ messageId }) => messageId)).toEqual([taken[1]?.messageId]);
    expect(await healthOf(webhookId)).toMatchObject({ waiting: 2 });
  });

  // Shows WEBHOOK-9.
  test('what finds no room is counted; strangers’ posts fill half of it', async () => {
    const webhookId = await add();
    const full = await add({ events: ['request.claimed'] });
    patch(`UPDATE "service-requests-test.webhooks" SET waiting = 10000 WHERE id = '${webhookId}'`);
    patch(`UPDATE "service-requests-test.webhooks" SET waiting = 20000 WHERE id = '${full}'`);
    const record = pendingRequest();
    await stores.requests.create(record);
    await stores.requests.claim(claimOf(record));
    expect(await healthOf(webhookId)).toEqual({ waiting: 10_001, dropped: 1, droppedAt: START });
    expect(await healthOf(full)).toEqual({ waiting: 20_000, dropped: 1, droppedAt: START + 1000 });
    expect(typesOf(await take())).toEqual(['request.claimed']);
  });

  // Shows WEBHOOK-8.
  test('of the ended ones the last thousand are kept', async () => {
    const webhookId = await add({ events: ['request.created'] });
    patch(`INSERT INTO "service-requests-test.deliveries" (webhook_id, request_id, event, at, record, state, ended_at)
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1300)
      SELECT '${webhookId}', 'r' || n, 'request.created', 1, '[]', 'delivered', n FROM n`);
    for (let n = 0; n < 130; n++) await stores.requests.create(pendingRequest());
    await settle(await take(LATER, 200));
    const all = (await stores.webhooks.listDeliveries({ webhookId, limit: 5000 })) ?? [];
    expect(all.length).toBeGreaterThanOrEqual(1000);
    expect(all.length).toBeLessThanOrEqual(1064);
    expect(all[0]).toMatchObject({ createdAt: START, status: 'delivered' });
  });

  test('the triggers are there as long as a webhook is', async () => {
    const triggers = () => {
      const database = new DatabaseSync(rig.file);
      const rows = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`).all();
      database.close();
      return rows.map(({ name }) => name);
    };
    expect(triggers()).toEqual([]);
    const [one, other] = [await add(), await add()];
    expect(triggers()).toHaveLength(2);
    await stores.webhooks.remove(one);
    expect(triggers()).toHaveLength(2);
    await stores.webhooks.remove(other);
    expect(triggers()).toEqual([]);
    await stores.requests.create(pendingRequest());
    expect(await take()).toEqual([]);
  });
});
