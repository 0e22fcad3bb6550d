import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { httpApiEvent, type RunningFunction, restApiEvent, startOtlpReceiver } from '@prism-gateway/testing';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import type { SeenAnswer } from './answer.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { type CallFacts, makeCall, signCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';
import { startKeeper } from './startKeeper.ts';

const deployment = { stage: 'prod', basePath: '', domainName: 'a1b2.execute-api.eu-central-1.amazonaws.com' };
const relayer = { privateKey: generatePrivateKey() };
const admin = [['X-Admin-Key', ADMIN_KEY]] as const;

type Line = Readonly<Record<string, unknown>>;

/** The log so far, each line of which is JSON. */
async function readLog(running: RunningFunction): Promise<Line[]> {
  return (await running.readOutput()).map((line) => JSON.parse(line) as Line);
}

describeWithDynamo('the function', () => {
  let rig: FunctionRig;
  let running: RunningFunction;

  const send = (facts: CallFacts): Promise<SeenAnswer> => {
    const call = makeCall(facts);
    return sendToFunction(running, call, httpApiEvent(call, deployment));
  };

  beforeAll(async () => {
    rig = await createFunctionRig();
    running = await rig.start('function');
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('serves the OpenAPI document with its own address', async () => {
    const { status, headers, body } = await send({ target: '/openapi.json' });
    const document = JSON.parse(Buffer.from(body, 'latin1').toString()) as Record<string, unknown>;
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(document.servers).toEqual([expect.objectContaining({ url: `https://${deployment.domainName}/prod` })]);
    expect(document['x-limits']).toMatchObject({ bodyBytes: 4096, batchEntries: 100 });
  });

  it('serves a page that leads to the document', async () => {
    const { status, headers, body } = await send({ target: '/docs' });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).toContain('<a href="openapi.json">');
    expect(await send({ target: '/docs/init.js' })).toMatchObject({ status: 404 });
  });

  // Shows OPERATE-4.
  it('has no /metrics: an instance knows only of itself', async () => {
    expect(await send({ target: '/metrics' })).toMatchObject({ status: 404 });
  });

  it('delivers the spans of a call before it answers, and its log names them', async () => {
    await using collector = await startOtlpReceiver();
    const traced = await rig.start('traced', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const traceId = 'c'.repeat(32);
    const headers = [['traceparent', `00-${traceId}-${'d'.repeat(16)}-01`]] as const;
    const call = makeCall({ target: '/requests?signer=0x5FbDB2315678afecb367f032d93F642f64180aa3', headers });
    expect(await sendToFunction(traced, call, httpApiEvent(call, deployment))).toMatchObject({ status: 200 });
    // What an instance has rehearsed before is in no trace.
    expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(1);
    const served = collector.spans.find(({ kind }) => kind === 2);
    expect(served).toMatchObject({ traceId, parentSpanId: 'd'.repeat(16), name: 'GET /requests' });
    expect(collector.spans).toContainEqual(
      expect.objectContaining({ name: 'requests.list', parentSpanId: served?.spanId }),
    );
    expect(await readLog(traced)).toContainEqual(expect.objectContaining({ msg: 'request', trace_id: traceId }));
  });

  // Shows AWS-5.
  it('rehearses on the gateway that answers, and leaves no trace of it; answers nobody who passed its edge by, and measures all the same', async () => {
    const secret = 's'.repeat(48);
    const fresh = await rig.start('fresh', { ORIGIN_SECRET: secret, LOG_LEVEL: 'debug' });
    const call = makeCall({ target: '/admin/requests', headers: [...admin, ['X-Origin-Secret', secret]] });
    const { status, body } = await sendToFunction(fresh, call, httpApiEvent(call, deployment));
    expect(status).toBe(200);
    expect(JSON.parse(Buffer.from(body, 'latin1').toString())).toMatchObject({ items: [] });
    const log = await readLog(fresh);
    expect(log.filter(({ msg }) => msg !== undefined)).toEqual([expect.objectContaining({ msg: 'request' })]);
    const counted = log.filter(({ Latency }) => Latency !== undefined);
    expect(counted).toEqual([expect.objectContaining({ Route: '/admin/requests', ColdStarts: 1 })]);
    // They were made, not refused at the door: they have read the tables. That is 23 units, on a busy machine 9.5, and 7 if all are refused.
    expect(counted[0]?.ReadUnits).toBeGreaterThan(8);

    const ask = (headers: CallFacts['headers'] = []) => {
      const made = makeCall({ target: '/health', headers });
      return sendToFunction(fresh, made, httpApiEvent(made, deployment));
    };
    expect(await ask()).toMatchObject({ status: 403 });
    expect(await ask([['X-Origin-Secret', secret]])).toMatchObject({ status: 200 });
    expect(await fresh.invoke({ source: 'aws.events' })).toEqual({ handled: 'measured' });
    expect((await fresh.readOutput()).join()).not.toContain(secret);
  });

  it.each([{ ping: true }, null, 'warm', []])('takes %j for a ping', async (event) => {
    expect(await running.invoke(event)).toEqual({ handled: 'ignored' });
  });

  it('measures the queue when a schedule asks', async () => {
    const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
    expect(await send({ method: 'POST', target: '/requests', body })).toMatchObject({ status: 201 });
    const event = { source: 'aws.events', 'detail-type': 'Scheduled Event', resources: [], detail: {} };
    expect(await running.invoke(event)).toEqual({ handled: 'measured' });
    const [line] = (await readLog(running)).filter(({ OldestPendingAge }) => OldestPendingAge !== undefined);
    expect(line).toMatchObject({ Stage: 'dev', OldestPendingAge: expect.any(Number) });
  });

  it('logs a queue that it could not measure, and does not fail for it', async () => {
    const cut = await rig.start('cut', { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' });
    expect(await cut.invoke({ source: 'aws.events' })).toEqual({ handled: 'failed' });
    expect(await readLog(cut)).toContainEqual(expect.objectContaining({ level: 'error', code: 'QUEUE_NOT_MEASURED' }));
  });

  it('writes each call before it answers, under the same id as Lambda, and its metrics with the minute', async () => {
    const before = (await running.readOutput()).length;
    await send({ target: '/health' });
    const [logged, ...more] = (await readLog(running)).slice(before).filter(({ msg }) => msg !== undefined);
    expect(more).toEqual([]);
    expect(logged).toMatchObject({ msg: 'request', route: '/health', awsRequestId: expect.stringMatching(/^call-/) });
    await running.invoke({ source: 'aws.events' });
    expect((await readLog(running)).slice(before)).toContainEqual(
      expect.objectContaining({ Route: '/health', Latency: expect.arrayContaining([expect.any(Number)]) }),
    );
  });

  it('counts a claim won and a claim lost', async () => {
    const created = await send({
      method: 'POST',
      target: '/requests',
      body: JSON.stringify(EXAMPLE_REQUESTS.DELETE_DATA_FOR),
    });
    // A 201 has an id.
    const { requestId } = JSON.parse(created.body) as { requestId: string };
    const body = JSON.stringify({ address: privateKeyToAddress(relayer.privateKey) });
    await send({ method: 'POST', target: '/admin/relayers', headers: admin, body });
    const statuses: number[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const claim = await signCall(relayer, {
        method: 'PATCH',
        target: `/requests/${requestId}`,
        body: '{"status":"processing"}',
      });
      statuses.push((await sendToFunction(running, claim, restApiEvent(claim, deployment))).status);
    }
    expect(statuses).toEqual([200, 409]);
    await running.invoke({ source: 'aws.events' });
    expect(await readLog(running)).toContainEqual(expect.objectContaining({ ClaimsWon: 1, ClaimsLost: 1 }));
  });

  it('believes the address that API Gateway saw, and not what a caller writes', async () => {
    const before = (await running.readOutput()).length;
    const call = {
      ...makeCall({ target: '/health', headers: [['X-Forwarded-For', '198.51.100.1']] }),
      peerAddress: '203.0.113.7',
    };
    await sendToFunction(running, call, httpApiEvent(call, deployment));
    expect((await readLog(running)).slice(before)).toContainEqual(expect.objectContaining({ peer: '203.0.113.7' }));
  });

  it('finds the caller behind as many proxies as are set', async () => {
    const proxied = await rig.start('proxied', { TRUSTED_PROXY_HOPS: '2' });
    const headers = [['X-Forwarded-For', 'forged, 198.51.100.1, 203.0.113.7']] as const;
    const call = { ...makeCall({ target: '/health', headers }), peerAddress: '203.0.113.7' };
    await sendToFunction(proxied, call, httpApiEvent(call, deployment));
    expect(await readLog(proxied)).toContainEqual(expect.objectContaining({ peer: '198.51.100.1' }));
  });

  it('keeps a page of large requests short, and leads on from there', async () => {
    const large = await rig.start('large', { MAX_BODY_BYTES: '262144' });
    const invoke = async (facts: CallFacts) => {
      const call = makeCall(facts);
      // What the function hands to Lambda.
      const result = (await large.invoke(httpApiEvent(call, deployment))) as { statusCode: number; body: string };
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(500_000);
      return result;
    };
    const { params, ...request } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
    const body = JSON.stringify({ ...request, params: { ...params, payload: `0x${'ab'.repeat(130_000)}` } });
    const created = await Promise.all(
      Array.from({ length: 10 }, () => invoke({ method: 'POST', target: '/requests', body })),
    );
    expect(new Set(created.map(({ statusCode }) => statusCode))).toEqual(new Set([201]));
    const pages: number[] = [];
    for (let cursor = ''; ; ) {
      const answer = await invoke({ target: `/requests?signer=${params.signer}&limit=100${cursor}` });
      // A 200 is a page.
      const { count, lastKey } = JSON.parse(answer.body) as { count: number; lastKey: string | null };
      pages.push(count);
      if (lastKey === null) break;
      cursor = `&lastKey=${lastKey}`;
    }
    expect(pages).toEqual(Array(10).fill(1));
  });

  it('takes its secrets from where they are kept', async () => {
    const arn = (name: string) => `arn:aws:secretsmanager:us-east-1:123456789012:secret:${name}`;
    const key = 'a-key-that-only-the-keeper-knows-of';
    await using keeper = await closing(startKeeper({ [arn('admin')]: key, [arn('cursor')]: 'c'.repeat(32) }));
    const kept = await rig.start('kept', {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: keeper.url,
      ADMIN_API_KEY: '',
      ADMIN_API_KEY_ARN: arn('admin'),
      CURSOR_SECRET: '',
      CURSOR_SECRET_ARN: arn('cursor'),
    });
    const call = makeCall({ target: '/admin/relayers', headers: [['X-Admin-Key', key]] });
    expect(await sendToFunction(kept, call, httpApiEvent(call, deployment))).toMatchObject({ status: 200 });
    expect((await kept.readOutput()).join('\n')).not.toContain(key);
  });

  it.each([
    ['names every bad setting', { STORAGE_BUCKET: '', LOG_LEVEL: 'deafening' }, /LOG_LEVEL: .*STORAGE_BUCKET: /s],
    [
      'names a secret that is not there',
      { ADMIN_API_KEY: '', ADMIN_API_KEY_ARN: 'arn:none' },
      /arn:none could not be read/,
    ],
  ])('%s, and fails at its init', async (_, env, reason) => {
    const starting = rig.start('bad', env);
    await expect(starting).rejects.toThrow(/"msg":"the function cannot start"/);
    await expect(starting).rejects.toThrow(reason);
    await expect(starting).rejects.not.toThrow('deafening');
  });
});

async function closing<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T & AsyncDisposable> {
  const started = await starting;
  return { ...started, [Symbol.asyncDispose]: () => started.close() };
}
