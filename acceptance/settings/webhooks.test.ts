import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  deliveryPageSchema,
  deliverySchema,
  WEBHOOK_ROUTES,
  webhookListSchema,
  webhookMessageSchema,
  webhookWithSecretSchema,
} from '@prism-gateway/protocol/webhooks';
import { expect, onTestFinished } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import type { HttpRequest } from '../rig/httpMessage.ts';
import { createRequest } from '../rig/requests.ts';
import { startOwn } from '../rig/startOwn.ts';
import type { Target } from '../rig/target.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers what it is asked to. */
async function receive(): Promise<{ readonly url: string; readonly received: Received[]; status: number }> {
  const receiver = { url: '', received: [] as Received[], status: 204 };
  const server = createServer(async (request, response) => {
    receiver.received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

/** As the specification has it, by hand: which of the secrets has signed. */
function signers(secrets: readonly string[], { headers, body }: Received): number[] {
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.flatMap((secret, place) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    const isThere = signatures.some(
      (one) => one.length === expected.length && timingSafeEqual(Buffer.from(one), expected),
    );
    return isThere ? [place] : [];
  });
}

const adminOf = (target: Target) => (call: HttpRequest) =>
  callApi(target, { ...call, headers: { 'x-admin-key': target.adminKey, ...call.headers } });

const UNKNOWN = '0'.repeat(32);
const pathOf = (path: string) => path.replace('{webhookId}', UNKNOWN).replace('{deliveryId}', '1');

covers(
  ['webhook.register', 'webhook.deliver', 'webhook.rotate', 'webhook.resend', 'webhook.change', 'webhook.secret'],
  'a webhook is registered, told, listed, rotated, sent again, changed and removed',
  async () => {
    const { target, gateway } = await startOwn({ env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
    const admin = adminOf(target);
    const receiver = await receive();
    const json = { url: receiver.url, events: ['request.created'], label: 'books' };
    const added = await admin({ method: 'POST', path: '/admin/webhooks', json });
    expect(added.status).toBe(201);
    const { secret, webhookId, ...webhook } = webhookWithSecretSchema.parse(added.body);
    expect(webhook).toMatchObject({ ...json, enabled: true, waiting: 0, dropped: 0 });
    const base = `/admin/webhooks/${webhookId}`;

    const record = await createRequest(target);
    await eventually(async () => expect(receiver.received).toHaveLength(1));
    const [first] = receiver.received as [Received];
    expect(signers([secret], first)).toEqual([0]);
    const { params: _, ...reported } = record;
    expect(webhookMessageSchema.parse(JSON.parse(first.body))).toEqual({
      ...{ type: 'request.created', timestamp: record.createdAt, data: reported },
    });
    const listed = await admin({ path: '/admin/webhooks' });
    expect(webhookListSchema.parse(listed.body)).toMatchObject({ count: 1, webhooks: [{ webhookId, label: 'books' }] });
    expect(JSON.stringify(listed.body)).not.toContain('whsec_');

    await eventually(async () => {
      const page = deliveryPageSchema.parse(
        (await admin({ path: `${base}/deliveries`, query: { status: 'delivered' } })).body,
      );
      expect(page).toMatchObject({
        count: 1,
        lastKey: null,
        items: [{ requestId: record.requestId, lastStatus: 204 }],
      });
    });
    const rotated = webhookWithSecretSchema.parse((await admin({ method: 'POST', path: `${base}/rotate` })).body);
    const resent = await admin({ method: 'POST', path: `${base}/deliveries/1/resend` });
    expect(resent.status).toBe(200);
    expect(deliverySchema.parse(resent.body)).toMatchObject({ deliveryId: '1', status: 'waiting' });
    await eventually(async () => expect(receiver.received).toHaveLength(2));
    const second = receiver.received[1] as Received;
    expect(signers([rotated.secret, secret], second)).toEqual([0, 1]);
    expect([second.headers['webhook-id'], second.body]).toEqual([first.headers['webhook-id'], first.body]);

    receiver.status = 500;
    const waits = await createRequest(target);
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(2));
    const page = deliveryPageSchema.parse((await admin({ path: `${base}/deliveries`, query: { limit: '1' } })).body);
    expect(page).toMatchObject({
      items: [{ requestId: waits.requestId, status: 'waiting' }],
    });
    const next = { limit: '1', lastKey: String(page.lastKey) };
    const older = deliveryPageSchema.parse((await admin({ path: `${base}/deliveries`, query: next })).body);
    expect(older.items[0]?.deliveryId).not.toBe(page.items[0]?.deliveryId);
    for (const query of [
      { ...next, lastKey: '1x' },
      { ...next, status: 'waiting' },
    ]) {
      expect((await admin({ path: `${base}/deliveries`, query })).status).toBe(400);
    }
    const { status, body: one } = await admin({ path: base });
    expect([status, one]).toEqual([200, expect.objectContaining({ webhookId, enabled: true })]);
    expect(one).not.toHaveProperty('secret');
    const again = await admin({ method: 'POST', path: `${base}/deliveries/${page.items[0]?.deliveryId}/resend` });
    expect(again.status).toBe(409);

    const change = { label: null, enabled: false };
    const changed = await admin({ method: 'PATCH', path: base, json: change });
    expect(changed.status).toBe(200);
    expect(changed.body).not.toHaveProperty('label');
    expect(changed.body).toMatchObject({ enabled: false, url: receiver.url });
    expect((await admin({ method: 'DELETE', path: base })).body).toMatchObject({ webhookId });
    expect((await admin({ method: 'DELETE', path: base })).status).toBe(404);
    await gateway.stop();
    const log = gateway.output.join('\n');
    expect(log).toMatch(/"audit":"webhooks.add".*"audit":"webhooks.rotate".*"audit":"webhooks.remove"/s);
    for (const hidden of [secret, rotated.secret, receiver.url])
      expect(log).not.toContain(hidden.replace('whsec_', ''));
  },
);

covers(['webhook.refuse'], 'each route of webhooks refuses strangers, unknown ids and what is not valid', async () => {
  const { target } = await startOwn({});
  const admin = adminOf(target);
  for (const { method, path, errors } of Object.values(WEBHOOK_ROUTES)) {
    const call = { method, path: pathOf(path), ...(method === 'PATCH' && { json: { enabled: true } }) };
    expect([path, (await callApi(target, call)).status]).toEqual([path, 401]);
    if (!path.includes('{')) continue;
    const unknown = await admin(call);
    expect([path, unknown.status]).toEqual([path, 404]);
    expect(errorOf(unknown)).toMatch(/no webhook/);
    if (!(errors as readonly number[]).includes(400)) continue;
    expect([path, (await admin({ ...call, path: call.path.replace(UNKNOWN, '42') })).status]).toEqual([path, 400]);
  }
  const add = (json: unknown) => admin({ method: 'POST', path: '/admin/webhooks', json });
  const events = ['request.failed'];
  expect(faultPaths(await add({ events: [], url: 'hooks', kind: 1, chainName: '', signer: '0x1', label: '' }))).toEqual(
    expect.arrayContaining(['url', 'events', 'kind', 'chainName', 'signer', 'label']),
  );
  for (const url of [
    'http://example.org',
    'https://127.0.0.1',
    'https://[::1]/',
    'https://10.1.2.3',
    'https://localhost',
    'https://a:b@example.org',
  ])
    expect([url, faultPaths(await add({ url, events }))]).toEqual([url, ['url']]);
  const query = { status: 'lost', limit: '0' };
  expect(faultPaths(await admin({ path: `/admin/webhooks/${UNKNOWN}/deliveries`, query }))).toEqual([
    'status',
    'limit',
  ]);
  const twenty = Array.from({ length: 20 }, () => add({ url: 'https://example.org/', events }));
  expect(new Set((await Promise.all(twenty)).map(({ status }) => status))).toEqual(new Set([201]));
  expect((await add({ url: 'https://example.org/', events })).status).toBe(409);
});
