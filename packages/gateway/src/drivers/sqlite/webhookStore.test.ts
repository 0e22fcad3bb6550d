import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bodyOf, deliveryQueueContract, LATER, useOutbox } from '../../../test/contracts/deliveryQueueContract.ts';
import { claimOf, pendingRequest, START } from '../../../test/contracts/storedRequests.ts';
import { webhookStoreContract } from '../../../test/contracts/webhookStoreContract.ts';
import { createSqliteRig, type SqliteRig, sqliteStore, TEST_TABLES } from '../../../test/rigs/sqliteStores.ts';
import type { TakenDelivery } from '../../ports/webhookStore.ts';
import type { SqliteStores } from './openSqliteStores.ts';

const DAY_MS = 86_400_000;

webhookStoreContract(
  'sqlite',
  sqliteStore(({ webhooks }) => webhooks),
);

deliveryQueueContract('sqlite', async () => {
  const rig = await createSqliteRig();
  const { requests, webhooks, deliveries } = rig.open();
  const outbox = { requests, webhooks, deliveries, flow: async () => undefined };
  const store = { ...outbox, openPeer: async () => rig.open().deliveries };
  return { store, cutOff: rig.close, dispose: rig.dispose };
});

const typesOf = (taken: readonly TakenDelivery[]) => taken.map((one) => bodyOf(one).type);

describe('the outbox', () => {
  let rig: SqliteRig;
  let stores: SqliteStores;
  beforeAll(async () => {
    rig = await createSqliteRig();
    stores = rig.open();
  });
  const { add, take, finalize, removeAll } = useOutbox(() => ({
    ...stores,
    flow: async () => undefined,
    openPeer: async () => stores.deliveries,
  }));
  afterEach(removeAll);
  afterAll(() => rig.dispose());

  const refuse = (taken: readonly TakenDelivery[], now: number) =>
    finalize(taken, { outcome: 'refused', status: 500, error: 'It answered 500.' }, now);
  const healthOf = async (webhookId: string) => (await stores.webhooks.find(webhookId))?.health;
  /** Changes the file as no call does. */
  const patch = (sql: string) => {
    const database = new DatabaseSync(rig.file);
    database.exec(sql);
    database.close();
  };

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
    expect(await stores.deliveries.nextDueAt(START)).toBe(START);
    const first = await take();
    expect(typesOf(first)).toEqual(['request.created']);
    await finalize(first);
    const second = await take();
    expect(typesOf(second)).toEqual(['request.claimed']);
    await finalize(second);
    expect(await take()).toEqual([]);
    expect(await stores.deliveries.nextDueAt(LATER)).toBeUndefined();
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
    await finalize(
      (await take(LATER + 1000)).filter((one) => bodyOf(one).data.requestId !== record.requestId),
      {},
      end - 1,
    );
    patch(
      `UPDATE "service-requests-test.webhooks" SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0;
       UPDATE "service-requests-test.deliveries" SET attempts = 19 WHERE attempts = 1`,
    );
    const bad = await take(end);
    expect(
      (
        await refuse(
          bad.filter((one) => bodyOf(one).type === 'request.created'),
          end,
        )
      ).map(({ kind }) => kind),
    ).toEqual(['given up']);
    expect(typesOf(await take(end + 60_000))).toEqual(['request.claimed']);
    expect(await stores.webhooks.listDeliveries({ webhookId, status: 'failed', limit: 5 })).toMatchObject([
      { event: 'request.created', attempts: 20, lastStatus: 500 },
    ]);
  });

  // Shows WEBHOOK-6.
  test('what was put off by a clock that was ahead is due once it is set right, and one that was behind disables nobody', async () => {
    const webhookId = await add({ events: ['request.created'] });
    await stores.requests.create(pendingRequest());
    const ahead = LATER + 365 * DAY_MS;
    await refuse(await take(ahead), ahead);
    await stores.requests.create({ ...pendingRequest(), createdAt: ahead });
    expect(await stores.deliveries.nextDueAt(LATER)).toBe(LATER);
    // The first look finds none, and has them be due.
    expect(await take(LATER)).toEqual([]);
    const probe = await take(LATER);
    expect(probe).toHaveLength(1);
    expect(await refuse(probe, LATER)).toEqual([]);
    expect(await stores.deliveries.nextDueAt(LATER)).toBe(LATER + 2000);
    expect(await healthOf(webhookId)).toMatchObject({ failingSince: LATER });
    await finalize(await take(LATER + 2000), {}, LATER + 2000);
    await finalize(await take(LATER + 10_000), {}, LATER + 10_000);
    expect(await healthOf(webhookId)).toEqual({ waiting: 0, dropped: 0, deliveredAt: LATER + 10_000 });
    await stores.requests.create({ ...pendingRequest(), createdAt: 0 });
    await refuse(await take(1000), 1000);
    expect(await refuse(await take(LATER + 20_000), LATER + 20_000)).toEqual([]);
    expect(await stores.webhooks.find(webhookId)).toMatchObject({ enabled: true, health: { waiting: 1 } });
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
  test('of the ended ones the last thousand are kept, of each of two webhooks that get the same events in turn', async () => {
    const events = ['request.created'] as const;
    const webhookIds = [await add({ events }), await add({ events })];
    for (const webhookId of webhookIds)
      patch(`INSERT INTO "service-requests-test.deliveries" (webhook_id, request_id, event, at, record, state, ended_at)
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1300)
        SELECT '${webhookId}', 'r' || n, 'request.created', 1, '[]', 'delivered', n FROM n`);
    for (let n = 0; n < 130; n++) await stores.requests.create(pendingRequest());
    await finalize(
      (await take(LATER, 200)).toSorted((one, other) => Number(one.deliveryId) - Number(other.deliveryId)),
    );
    for (const webhookId of webhookIds) {
      const all = (await stores.webhooks.listDeliveries({ webhookId, limit: 5000 })) ?? [];
      expect(all.length).toBeGreaterThanOrEqual(1000);
      expect(all.length).toBeLessThanOrEqual(1064);
      expect(all[0]).toMatchObject({ createdAt: START, status: 'delivered' });
    }
  });

  test('posts that share a commit with the begin or the end of a webhook leave nothing behind', async () => {
    const webhookId = await add();
    const post = () => stores.requests.create(pendingRequest());
    await Promise.all([post(), stores.webhooks.remove(webhookId), post(), add(), post()]);
    const [only] = await stores.webhooks.list();
    expect(only?.health.waiting).toBe(1);
    expect(await take()).toHaveLength(1);
    const database = new DatabaseSync(rig.file);
    const count = database.prepare(`SELECT count(*) AS rows FROM "${TEST_TABLES.requests}.deliveries"`).get();
    database.close();
    expect(count).toEqual({ rows: 1 });
  });
});
