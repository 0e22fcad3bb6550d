import { BatchWriteItemCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { DYNAMO_TEST_ACCESS, httpApiEvent, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { type CallFacts, makeCall, signCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const relayer = { privateKey: generatePrivateKey() };
const admin = [['X-Admin-Key', ADMIN_KEY]] as const;
const { chainName } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
/** Most items that are written at once. */
const BATCH = 25;

describeWithDynamo('tables that were restored to a second before', () => {
  let rig: FunctionRig;
  let raw: DynamoDBClient;
  let running: RunningFunction;
  let restored: RunningFunction;
  beforeAll(async () => {
    rig = await createFunctionRig();
    running = await rig.start('before');
    raw = new DynamoDBClient({ ...DYNAMO_TEST_ACCESS, endpoint: rig.env('before').AWS_ENDPOINT_URL_DYNAMODB ?? '' });
  });
  afterAll(async () => {
    raw.destroy();
    await restored?.close();
    await rig[Symbol.asyncDispose]();
  });

  async function call(instance: RunningFunction, facts: CallFacts, isSigned = false) {
    const made = isSigned ? await signCall(relayer, facts) : makeCall(facts);
    const { status, body } = await sendToFunction(instance, made, httpApiEvent(made, deployment));
    return { status, body: body === '' ? {} : JSON.parse(Buffer.from(body, 'latin1').toString()) };
  }

  const post = async (facts: object = {}) => {
    const body = JSON.stringify({ ...EXAMPLE_REQUESTS.WRITE_DATA_FOR, ...facts });
    return String((await call(running, { method: 'POST', target: '/requests', body })).body.requestId);
  };
  const addWebhook = (name: string) =>
    call(running, {
      ...{ method: 'POST', target: '/admin/webhooks', headers: admin },
      body: JSON.stringify({ url: `https://${name}.example.org/`, events: ['request.succeeded'] }),
    });
  const claim = (instance: RunningFunction, id: string) =>
    call(instance, { method: 'PATCH', target: `/requests/${id}`, body: '{"status":"processing"}' }, true);
  const report = (instance: RunningFunction, id: string) =>
    call(
      instance,
      {
        method: 'PATCH',
        target: `/requests/${id}`,
        body: JSON.stringify({ status: 'success', txHash: `0x${'ab'.repeat(32)}` }),
      },
      true,
    );
  const feed = (instance: RunningFunction, query: string) =>
    call(instance, { target: `/requests/feed?chainName=${encodeURIComponent(chainName)}${query}` }, true);
  const webhooksOf = async (instance: RunningFunction) => {
    const { body } = await call(instance, { target: '/admin/webhooks', headers: admin });
    return body.webhooks.map(({ url }: { readonly url: string }) => url);
  };

  /** Copies a table as it is now: what a restoration to this second would bring. */
  async function copy(from: string, to: string): Promise<void> {
    const { Items = [] } = await raw.send(new ScanCommand({ TableName: from }));
    for (let i = 0; i < Items.length; i += BATCH) {
      const puts = Items.slice(i, i + BATCH).map((Item) => ({ PutRequest: { Item } }));
      await raw.send(new BatchWriteItemCommand({ RequestItems: { [to]: puts } }));
    }
  }

  it('serve with a new cursor secret: what was claimed since is found again, and webhooks are those of then', async () => {
    const address = privateKeyToAddress(relayer.privateKey);
    await call(running, {
      method: 'POST',
      target: '/admin/relayers',
      headers: admin,
      body: JSON.stringify({ address }),
    });
    const pending = await post();
    expect((await addWebhook('kept')).status).toBe(201);
    // The second that is restored to: empty tables of another name are made, and filled.
    await (await rig.start('restored')).close();
    for (const store of ['requests', 'deliveries']) await copy(`service-${store}-before`, `service-${store}-restored`);
    // What happens after it.
    const posted = await post();
    expect((await addWebhook('later')).status).toBe(201);
    expect((await claim(running, pending)).status).toBe(200);
    expect((await report(running, pending)).status).toBe(200);
    const { cursor } = (await feed(running, '')).body;

    const env = { ...rig.env('restored'), RELAYERS_TABLE: 'service-relayers-before', CURSOR_SECRET: 'n'.repeat(40) };
    restored = await startFunction({ file: rig.built.file, env });
    expect((await call(restored, { target: `/requests/${posted}` })).status).toBe(404);
    expect(await call(restored, { target: `/requests/${pending}` })).toMatchObject({ body: { status: 'pending' } });
    // A cursor of before stands behind what is pending again; a relayer that is refused begins with the oldest.
    expect((await feed(restored, `&cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
    expect(await feed(restored, '')).toMatchObject({ status: 200, body: { items: [{ requestId: pending }] } });
    expect(await webhooksOf(restored)).toEqual(['https://kept.example.org/']);
    expect((await claim(restored, pending)).status).toBe(200);
    expect(await report(restored, pending)).toMatchObject({ status: 200, body: { status: 'success' } });
  });
});
