import { afterEach, describe, expect, test } from 'vitest';
import type { RequestStore } from '../../src/ports/requestStore.ts';
import type {
  DeliveryOutcome,
  DeliveryQueue,
  NewWebhook,
  TakenDelivery,
  WebhookStore,
} from '../../src/ports/webhookStore.ts';
import { claimOf, pendingRequest, reportOf, START } from './storedRequests.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';
import { newWebhook } from './webhookStoreContract.ts';

/** A store whose moves are told to webhooks. */
export interface Outbox {
  readonly requests: RequestStore;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryQueue;
  /** Waits until all that was moved is in the outbox. */
  flow(): Promise<void>;
  /** The queue as another process has it. */
  openPeer(): Promise<DeliveryQueue>;
}

const DAY_MS = 86_400_000;
/** When the events of the contract are due. */
export const LATER = START + 10_000;

export const bodyOf = ({ body }: TakenDelivery) => JSON.parse(body);

/** Ids grow, in digits or in length. */
const byAge = ({ deliveryId: a }: TakenDelivery, { deliveryId: b }: TakenDelivery) =>
  a.length - b.length || (a < b ? -1 : 1);

/** Calls of one outbox, as tests make them. */
export function useOutbox(outbox: () => Outbox) {
  return {
    async add(fields: Partial<NewWebhook> = {}): Promise<string> {
      const webhook = newWebhook(fields);
      await outbox().webhooks.add(webhook);
      return webhook.webhookId;
    },
    async take(now = LATER, perWebhook = 100) {
      await outbox().flow();
      return await outbox().deliveries.take({ now, holdMs: 15_000, perWebhook, underWay: {} });
    },
    finalize(taken: readonly TakenDelivery[], outcome: Partial<DeliveryOutcome> = {}, now = LATER) {
      const made = { outcome: 'delivered', status: 200 } as const;
      const outcomes = taken.map(({ deliveryId, webhookId }) => ({ deliveryId, webhookId, ...made, ...outcome }));
      return outbox().deliveries.finalize({ now, outcomes });
    },
    async removeAll(): Promise<void> {
      for (const { webhookId } of await outbox().webhooks.list()) await outbox().webhooks.remove(webhookId);
    },
  };
}

/** The contract of every store that delivers. */
export function deliveryQueueContract(name: string, createStore: CreateStore<Outbox>): void {
  describe(`deliveries: ${name}`, () => {
    const store = useStore(createStore);
    const outbox = () => store().store;
    const { add, take, finalize, removeAll } = useOutbox(outbox);
    afterEach(removeAll);
    const refuse = (taken: readonly TakenDelivery[], now: number) =>
      finalize(taken, { outcome: 'refused', status: 500, error: 'It answered 500.' }, now);
    const healthOf = async (webhookId: string) => (await outbox().webhooks.find(webhookId))?.health;

    // Shows WEBHOOK-4, WEBHOOK-5.
    test('each move is an event of the record as it left it, and one request’s go out in order', async () => {
      await add();
      const record = pendingRequest();
      const relayer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
      await outbox().requests.create(record);
      await outbox().requests.claim(claimOf(record, { relayer }));
      await outbox().requests.release({ requestId: record.requestId, relayer, releaseId: 'once', now: START + 1500 });
      await outbox().requests.claim(claimOf(record, { relayer, now: START + 1600 }));
      const outcome = { status: 'failed', errorMessage: 'kein Gas\u0000 "💸"' } as const;
      await outbox().requests.report(reportOf(record, { relayer, outcome }));
      const reported = [];
      for (let taken = await take(); taken.length > 0; taken = await take()) {
        expect(taken).toHaveLength(1);
        reported.push(...taken.map(bodyOf));
        await finalize(taken);
      }
      expect(reported.map(({ type }) => type.slice('request.'.length))).toEqual(
        ['created', 'claimed', 'released', 'claimed', 'failed'], // in the order of the moves
      );
      const { requestId, chainName, action, signer } = record;
      expect(reported[0]).toEqual({
        ...{ type: 'request.created', timestamp: new Date(START).toISOString() },
        data: {
          ...{ requestId, chainName, action, signer, status: 'pending' },
          ...{ createdAt: new Date(START).toISOString(), updatedAt: new Date(START).toISOString() },
        },
      });
      expect(reported[4].data).toMatchObject({
        status: 'failed',
        errorMessage: 'kein Gas\u0000 "💸"',
        claimedBy: relayer,
      });
      expect(reported[2].data).not.toHaveProperty('claimedBy');
    });

    // Shows WEBHOOK-1, WEBHOOK-2.
    test('a webhook gets its kinds, chain and signer alone, and of nothing while it is disabled', async () => {
      const [mine, other] = [pendingRequest(), pendingRequest()];
      const ofChain = await add({ chainName: mine.chainName, events: ['request.created'] });
      const ofSigner = await add({ signer: other.signer.toLowerCase(), events: ['request.created'] });
      const ofClaims = await add({ events: ['request.claimed'] });
      const off = await add({ enabled: false });
      for (const record of [mine, other]) await outbox().requests.create(record);
      await outbox().requests.claim(claimOf(mine));
      const taken = await take();
      const reported = (id: string) =>
        taken.filter(({ webhookId }) => webhookId === id).map((one) => [bodyOf(one).type, bodyOf(one).data.requestId]);
      expect(reported(ofChain)).toEqual([['request.created', mine.requestId]]);
      expect(reported(ofSigner)).toEqual([['request.created', other.requestId]]);
      expect(reported(ofClaims)).toEqual([['request.claimed', mine.requestId]]);
      expect(reported(off)).toEqual([]);
      expect(taken).toHaveLength(3);
    });

    // Shows WEBHOOK-5.
    test('what is taken is nobody else’s until its time is up, and then it is the same message', async () => {
      await add({ events: ['request.created'] });
      const rival = await outbox().openPeer();
      for (let n = 0; n < 4; n++) await outbox().requests.create(pendingRequest());
      const order = { now: LATER, holdMs: 15_000, perWebhook: 3, underWay: {} };
      await outbox().flow();
      const [one, two] = await Promise.all([outbox().deliveries.take(order), rival.take(order)]);
      const ids = [...one, ...two].map(({ messageId }) => messageId);
      expect(new Set(ids).size).toBe(4);
      expect(await rival.take(order)).toEqual([]);
      // The first process dies. Its own is made by the other one, later.
      const outcomes = two.map(({ deliveryId, webhookId }) => ({
        deliveryId,
        webhookId,
        outcome: 'delivered' as const,
      }));
      await rival.finalize({ now: LATER, outcomes });
      const again = await rival.take({ ...order, now: LATER + 15_000 });
      expect(again.map(({ messageId, body }) => [messageId, body])).toEqual(
        one.map(({ messageId, body }) => [messageId, body]),
      );
    });

    // Shows WEBHOOK-6.
    test('a receiver that fails is tried by one delivery at a time, ever later, and then by all at once', async () => {
      const webhookId = await add({ events: ['request.created'] });
      for (let n = 0; n < 6; n++) await outbox().requests.create(pendingRequest());
      let now = LATER;
      const first = await take(now);
      expect(first).toHaveLength(6);
      expect(await refuse(first, now)).toEqual([]);
      const pauses: number[] = [];
      for (let tries = 0; tries < 9; tries++) {
        const dueAt = (await outbox().deliveries.nextDueAt(now)) ?? 0;
        pauses.push((dueAt - now) / 1000);
        now = dueAt;
        const probe = await take(now);
        expect(probe).toHaveLength(1);
        expect(await take(now)).toEqual([]);
        const notices = await refuse(probe, now);
        expect(notices.map((one) => one.kind)).toEqual(tries === 2 ? ['failing'] : []);
      }
      expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
      expect(await healthOf(webhookId)).toMatchObject({ waiting: 6, failingSince: LATER });
      now += 60_000;
      expect((await finalize(await take(now), {}, now)).map(({ kind }) => kind)).toEqual(['recovered']);
      await finalize(await take(now), {}, now);
      expect(await healthOf(webhookId)).toEqual({ waiting: 0, dropped: 0, deliveredAt: now });
    });

    // Shows WEBHOOK-6.
    test('after a day without success it is disabled and says so; enabled, what waited has another day', async () => {
      const webhookId = await add({ events: ['request.created'] });
      await outbox().requests.create(pendingRequest());
      await refuse(await take(), LATER);
      // The gateway was stopped for a day: that is no day of trying.
      const back = LATER + DAY_MS;
      for (let n = 0; n < 98; n++) {
        const at = back + n * 600_000;
        for (const { kind } of await refuse(await take(at), at)) expect(kind).toBe('failing');
      }
      const end = back + DAY_MS;
      const why = 'Nothing came through for a day: It answered 500.';
      expect(await refuse(await take(end), end)).toEqual([{ webhookId, kind: 'disabled', why }]);
      const disabled = await outbox().webhooks.find(webhookId);
      expect(disabled).toMatchObject({ enabled: false, health: { waiting: 1, disabledAt: end, disabledReason: why } });
      await outbox().requests.create(pendingRequest());
      expect(await take(end + DAY_MS)).toEqual([]);
      expect(await outbox().deliveries.nextDueAt(end)).toBeUndefined();
      const { url, events } = newWebhook();
      await outbox().webhooks.change({ webhookId, target: { url, events, enabled: true }, now: end + 1 });
      const revived = await take(end + 1);
      expect(revived).toHaveLength(1);
      expect(await refuse(revived, end + 1)).toEqual([]);
      expect(await outbox().webhooks.find(webhookId)).toMatchObject({ enabled: true, health: { waiting: 1 } });
    });

    // Shows WEBHOOK-6.
    test('410 disables at once', async () => {
      const webhookId = await add();
      await outbox().requests.create(pendingRequest());
      const why = 'The receiver answered 410 Gone.';
      const gone = { outcome: 'refused', status: 410, error: 'It answered 410.' } as const;
      expect(await finalize(await take(), gone)).toEqual([{ webhookId, kind: 'disabled', why }]);
      expect(await outbox().webhooks.find(webhookId)).toMatchObject({ enabled: false });
    });

    // Shows WEBHOOK-8.
    test('deliveries are listed newest first by pages; an ended one is sent again under its own id', async () => {
      const webhookId = await add({ events: ['request.created'] });
      for (let n = 0; n < 5; n++) await outbox().requests.create(pendingRequest());
      const taken = (await take()).toSorted(byAge);
      await finalize(taken.slice(0, 4));
      const list = (more = {}) => outbox().webhooks.listDeliveries({ webhookId, limit: 3, ...more });
      const [one, two, three, four, five] = taken.map(({ deliveryId }) => deliveryId);
      const idsOf = async (more = {}) => (await list(more))?.map(({ deliveryId }) => deliveryId);
      expect(await idsOf()).toEqual([five, four, three]);
      expect(await idsOf({ after: three })).toEqual([two, one]);
      expect(await idsOf({ status: 'waiting' })).toEqual([five]);
      const [{ requestId = '' } = {}] = (await list({ status: 'waiting' })) ?? [];
      expect(await idsOf({ requestId })).toEqual([five]);
      expect(await idsOf({ requestId, status: 'delivered' })).toEqual([]);
      const resend = (deliveryId = '') => outbox().webhooks.resend({ webhookId, deliveryId, now: LATER });
      expect(await resend(five)).toBe('waiting');
      expect(await resend('99999999')).toBe('missing');
      expect(await resend('x')).toBe('missing');
      expect(await resend(two)).toMatchObject({ deliveryId: two, status: 'waiting', attempts: 0 });
      expect((await take()).map(({ messageId }) => messageId)).toEqual([taken[1]?.messageId]);
      expect(await healthOf(webhookId)).toMatchObject({ waiting: 2 });
    });
  });
}
