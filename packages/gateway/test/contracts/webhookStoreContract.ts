import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MAX_WEBHOOKS, type NewWebhook, ROTATION_MS, type WebhookStore } from '../../src/ports/webhookStore.ts';
import { anyAddress, START } from './storedRequests.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

/** Makes a webhook; what is not given is random, of every kind of event, from `START` on. */
export function newWebhook(fields: Partial<NewWebhook> = {}): NewWebhook {
  return {
    webhookId: randomBytes(16).toString('hex'),
    url: 'https://example.org/hook',
    events: ['request.created', 'request.claimed', 'request.released', 'request.succeeded', 'request.failed'],
    enabled: true,
    secret: `whsec_${randomBytes(32).toString('base64')}`,
    now: START,
    ...fields,
  };
}

/** The contract of every store of webhooks. */
export function webhookStoreContract(name: string, createStore: CreateStore<WebhookStore>): void {
  describe(`webhooks: ${name}`, () => {
    const store = useStore(createStore);

    // Shows WEBHOOK-1, WEBHOOK-2.
    test('a webhook is what was registered, then what it was changed to, then gone', async () => {
      const webhooks = store().store;
      const peer = (await store().openPeer?.()) ?? webhooks;
      const wanted = newWebhook({
        events: ['request.failed'],
        chainName: 'eip155:1',
        signer: anyAddress(),
        label: 'ä',
      });
      const { secret, now, ...target } = wanted;
      const added = await webhooks.add(wanted);
      expect(added).toEqual({
        ...{ ...target, createdAt: now, updatedAt: now, secrets: [{ secret }] },
        health: { waiting: 0, dropped: 0 },
      });
      expect(await peer.find(wanted.webhookId)).toEqual(added);
      const next = { url: 'https://example.org/other', events: ['request.created'], enabled: false } as const;
      const { webhookId } = wanted;
      const changed = await peer.change({ webhookId, target: next, now: START + 1 });
      expect(changed).toEqual({
        ...{ webhookId, ...next, createdAt: START, updatedAt: START + 1, secrets: [{ secret }] },
        health: { waiting: 0, dropped: 0 },
      });
      expect(await webhooks.list()).toEqual([changed]);
      expect(await webhooks.remove(webhookId)).toBe(true);
      expect(await webhooks.remove(webhookId)).toBe(false);
      expect(await peer.find(webhookId)).toBeUndefined();
      expect(await webhooks.change({ webhookId, target: next, now })).toBeUndefined();
      expect(await webhooks.rotate({ webhookId, secret, now })).toBeUndefined();
    });

    // Shows WEBHOOK-7.
    test('a rotation keeps the secret before for a day, and no other', async () => {
      const webhooks = store().store;
      const first = newWebhook();
      const { webhookId } = first;
      await webhooks.add(first);
      const [second, third] = [newWebhook().secret, newWebhook().secret];
      await webhooks.rotate({ webhookId, secret: second, now: START + 5 });
      const rotated = await webhooks.rotate({ webhookId, secret: third, now: START + 9 });
      const secrets = [{ secret: third }, { secret: second, expiresAt: START + 9 + ROTATION_MS }];
      expect(rotated).toMatchObject({ secrets, updatedAt: START + 9 });
      await webhooks.remove(webhookId);
    });

    // Shows WEBHOOK-1.
    test('they are listed oldest first, and one more than the most is refused', async () => {
      const webhooks = store().store;
      const all = Array.from({ length: MAX_WEBHOOKS }, (_, n) => newWebhook({ now: START + n }));
      for (const one of all.toReversed()) expect(await webhooks.add(one)).toBeDefined();
      expect(await webhooks.add(newWebhook())).toBeUndefined();
      expect((await webhooks.list()).map(({ webhookId }) => webhookId)).toEqual(all.map(({ webhookId }) => webhookId));
      for (const { webhookId } of all) await webhooks.remove(webhookId);
    });
  });
}
