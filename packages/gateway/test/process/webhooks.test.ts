import { type RunningGateway, startDynamo, startGateway } from '@prism-gateway/testing';
import { afterEach, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { type Receiver, startReceiver } from '../rigs/startReceiver.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';

const running: RunningGateway[] = [];
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.kill();
});

async function start(settings: Parameters<typeof startGateway>[0] = {}): Promise<RunningGateway> {
  const env = { WEBHOOKS_ALLOW_PRIVATE: 'true', ...settings.env };
  const gateway = await startGateway({ ...settings, env });
  running.push(gateway);
  return gateway;
}

async function call({ url, adminKey }: RunningGateway, method: string, path: string, json?: unknown) {
  const headers = { 'x-admin-key': adminKey, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const register = (gateway: RunningGateway, { url }: Pick<Receiver, 'url'>) =>
  call(gateway, 'POST', '/admin/webhooks', { url, events: ['request.created'] });

async function submit(gateway: RunningGateway): Promise<string> {
  const { body } = await call(gateway, 'POST', '/requests', writeRequestBody());
  return String(body.requestId);
}

// Shows WEBHOOK-5.
test('what was acknowledged while the receiver was down is delivered after a kill, with the same secret', async () => {
  const receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  const first = await start();
  const { status, body } = await register(first, receiver);
  expect(status).toBe(201);
  await receiver.close();
  const ids = await Promise.all(Array.from({ length: 20 }, () => submit(first)));
  const { dataDir } = first;
  first.process.kill('SIGKILL');
  const again = await startReceiver(Number(port));
  again.trust(String(body.secret));
  await start({ dataDir });
  await again.waitFor(20);
  const reported = again.received.map(({ message }) => message.data.requestId);
  expect(new Set(reported)).toEqual(new Set(ids));
  await again.close();
});

describeWithDynamo('with DynamoDB', () => {
  // Shows WEBHOOK-10.
  test('a server refuses to register a webhook, and says who delivers', async () => {
    await using engine = await startDynamo();
    const gateway = await start({ env: { STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint } });
    const { status, body } = await register(gateway, { url: 'http://127.0.0.1:1/' });
    expect(status).toBe(409);
    expect(body.error).toMatch(/Nothing here delivers: with DynamoDB it takes the functions/);
    expect((await call(gateway, 'GET', '/admin/webhooks')).body).toEqual({ webhooks: [], count: 0 });
  });
});
