import { httpApiEvent, type RunningFunction } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { makeCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const url = 'https://example.org/hooks/prism';

describeWithDynamo('webhooks of the built function', () => {
  let rig: FunctionRig;
  let running: RunningFunction;
  beforeAll(async () => {
    rig = await createFunctionRig();
    running = await rig.start('webhooks');
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  async function call(method: string, target: string, json?: object) {
    const headers = [['X-Admin-Key', ADMIN_KEY]] as const;
    const made = makeCall({ method, target, headers, ...(json !== undefined && { body: JSON.stringify(json) }) });
    const { status, body } = await sendToFunction(running, made, httpApiEvent(made, deployment));
    return { status, body: JSON.parse(Buffer.from(body, 'latin1').toString()) };
  }

  // Shows WEBHOOK-1, WEBHOOK-2, WEBHOOK-3, WEBHOOK-7, WEBHOOK-8.
  it('are registered, changed, rotated, listed and removed by code that is loaded then', async () => {
    const added = await call('POST', '/admin/webhooks', { url, events: ['request.created'], label: 'books' });
    expect(added).toMatchObject({ status: 201, body: { url, enabled: true, waiting: 0, label: 'books' } });
    const { webhookId, secret } = added.body;
    expect(secret).toMatch(/^whsec_/);
    const path = `/admin/webhooks/${webhookId}`;
    const changed = await call('PATCH', path, { enabled: false, label: null });
    expect(changed).toMatchObject({ status: 200, body: { enabled: false } });
    expect(changed.body).not.toHaveProperty('label');
    const rotated = await call('POST', `${path}/rotate`);
    expect(rotated.body.secret).not.toBe(secret);
    expect(await call('GET', `${path}/deliveries`)).toMatchObject({ status: 200, body: { items: [], lastKey: null } });
    expect((await call('POST', `${path}/deliveries/1/resend`)).status).toBe(404);
    expect(await call('GET', '/admin/webhooks')).toMatchObject({ body: { count: 1, webhooks: [{ webhookId }] } });
    const inside = { url: 'https://127.0.0.1/', events: ['request.created'] };
    expect((await call('POST', '/admin/webhooks', inside)).status).toBe(400);
    expect((await call('DELETE', path)).status).toBe(200);
    expect((await call('GET', `${path}/deliveries`)).status).toBe(404);
  });
});
