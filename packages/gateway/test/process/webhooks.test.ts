import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { type RunningGateway, startDynamo, startGateway } from '@prism-gateway/testing';
import { isLong } from '@prism-gateway/testing/test-size';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createPatientClient } from '../rigs/createPatientClient.ts';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { createRelayers, type RelayerClient } from '../rigs/relayerClient.ts';
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
  const told = again.received.map(({ message }) => message.data.requestId);
  expect(new Set(told)).toEqual(new Set(ids));
  await again.close();
});

describeWithDynamo('with DynamoDB', () => {
  const engines = new AsyncDisposableStack();
  afterAll(() => engines.disposeAsync());

  const startOn = ({ endpoint }: Awaited<ReturnType<typeof startDynamo>>) =>
    start({ env: { STORE: 'dynamodb', AWS_ENDPOINT_URL_DYNAMODB: endpoint } });

  /** A request's whole life. @returns its id */
  async function live(gateway: RunningGateway, relayer: RelayerClient): Promise<string> {
    const requestId = await submit(gateway);
    const [path, body] = [`/requests/${requestId}`, JSON.stringify({ status: 'processing' })];
    const headers = {
      'content-type': 'application/json',
      ...relayer.signHeaders({ method: 'PATCH', path, body }),
    };
    expect((await fetch(`${gateway.url}${path}`, { method: 'PATCH', headers, body })).status).toBe(200);
    const { status } = await call(gateway, 'POST', `/admin/requests/${requestId}/fail`, { errorMessage: 'no gas' });
    expect(status).toBe(200);
    return requestId;
  }

  // Shows WEBHOOK-5, WEBHOOK-10. Who was killed holds the stream's lease for ten seconds more.
  test('what was moved while the receiver was down is told in order, once it is up, by the server that is left', async () => {
    const engine = engines.use(await startDynamo());
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const [first, second] = [await startOn(engine), await startOn(engine)];
    const events = ['request.created', 'request.claimed', 'request.failed'];
    const [relayer] = await createRelayers(1);
    if (relayer === undefined) throw new Error('there is no relayer');
    expect((await call(first, 'POST', '/admin/relayers', { address: relayer.address })).status).toBe(201);
    const { status, body } = await call(first, 'POST', '/admin/webhooks', { url: receiver.url, events });
    expect(status).toBe(201);
    await receiver.close();
    const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => live(n % 2 === 0 ? first : second, relayer)));
    first.process.kill(isLong ? 'SIGKILL' : 'SIGTERM');
    const again = await startReceiver(Number(port));
    again.trust(String(body.secret));
    ids.push(...(await Promise.all(Array.from({ length: 10 }, () => live(second, relayer)))));
    const toldOf = (requestId: string) =>
      new Set(again.received.flatMap(({ message }) => (message.data.requestId === requestId ? [message.type] : [])));
    while (!ids.every((requestId) => toldOf(requestId).size === events.length))
      await again.waitFor(again.received.length + 1);
    // The first time that each was told.
    for (const requestId of ids) expect([...toldOf(requestId)]).toEqual(events);
    await again.close();
  });

  test('a server whose table has no stream refuses to register, and says what to do', async () => {
    const engine = engines.use(await startDynamo());
    const settings = { STORE: 'dynamodb', STAGE: 'dev', AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
    const gateway = await start({ env: { ...settings, AWS_ENDPOINT_URL_DYNAMODB_STREAMS: `${engine.endpoint}/` } });
    // AWS's own engine keeps tables apart by key: this is the one of a server that was given none.
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = createPatientClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials });
    const StreamSpecification = { StreamEnabled: false };
    await client.send(new UpdateTableCommand({ TableName: 'service-requests-dev', StreamSpecification }));
    const { status, body } = await register(gateway, { url: 'http://127.0.0.1:1/' });
    client.destroy();
    expect(status).toBe(409);
    expect(body.error).toMatch(/Nothing here would deliver: the requests’ table has no stream/);
  });
});
