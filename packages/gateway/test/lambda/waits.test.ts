import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { httpApiEvent, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { type CallFacts, makeCall, signCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const relayer = { privateKey: generatePrivateKey() };
const { chainName } = EXAMPLE_REQUESTS.DELETE_DATA_FOR;

interface Told {
  readonly status: number;
  // Of any shape: tests look into it.
  readonly body: Readonly<Record<string, unknown>>;
}

describeWithDynamo('waiting in the built function', () => {
  let rig: FunctionRig;
  /** One instance has one call at a time: what waits keeps it. */
  let waiting: RunningFunction;
  let acting: RunningFunction;

  async function call(running: RunningFunction, facts: CallFacts, isSigned = false): Promise<Told> {
    const made = isSigned ? await signCall(relayer, facts) : makeCall(facts);
    const { status, body } = await sendToFunction(running, made, httpApiEvent(made, deployment));
    return { status, body: JSON.parse(Buffer.from(body, 'latin1').toString()) };
  }

  async function create(): Promise<string> {
    const body = JSON.stringify(EXAMPLE_REQUESTS.DELETE_DATA_FOR);
    const { body: record } = await call(acting, { method: 'POST', target: '/requests', body });
    return String(record.requestId);
  }

  beforeAll(async () => {
    rig = await createFunctionRig();
    waiting = await rig.start('waits');
    acting = await startFunction({ file: rig.built.file, env: rig.env('waits') });
    const body = JSON.stringify({ address: privateKeyToAddress(relayer.privateKey) });
    const headers = [['X-Admin-Key', ADMIN_KEY]] as const;
    await call(acting, { method: 'POST', target: '/admin/relayers', headers, body });
  });
  afterAll(async () => {
    await acting?.close();
    await rig?.[Symbol.asyncDispose]();
  });

  // Shows WAIT-1.
  it('answers as soon as another instance has moved the request', async () => {
    const requestId = await create();
    let isAnswered = false;
    const target = `/requests/${requestId}?status=pending&wait=25`;
    const wait = call(waiting, { target }).finally(() => {
      isAnswered = true;
    });
    // Time goes by, in which nothing happens to it.
    await create();
    expect(isAnswered).toBe(false);
    const claim = { method: 'PATCH', target: `/requests/${requestId}`, body: '{"status":"processing"}' };
    expect((await call(acting, claim, true)).status).toBe(200);
    expect(await wait).toMatchObject({ status: 200, body: { requestId, status: 'processing' } });
  });

  it('answers with the record as it is when the time is over, within its own limit', async () => {
    const requestId = await create();
    const target = `/requests/${requestId}?status=pending&wait=1`;
    expect(await call(waiting, { target })).toMatchObject({ status: 200, body: { status: 'pending' } });
  });

  // Shows FEED-1.
  it('feeds a relayer what another instance has stored', async () => {
    const feed = (query: string) => call(waiting, { target: `/requests/feed?chainName=${chainName}&${query}` }, true);
    // "Now" begins a second ago: what the tests before have stored is listed until then.
    let from: Told | undefined;
    const begin = async () => {
      from = await feed('from=now');
      return from;
    };
    await expect.poll(begin, { timeout: PATIENCE_MS }).toMatchObject({ status: 200, body: { items: [] } });
    const fed = feed(`cursor=${encodeURIComponent(String(from?.body.cursor))}&wait=25`);
    const requestId = await create();
    expect(await fed).toMatchObject({ status: 200, body: { count: 1, items: [{ requestId }] } });
  });
});
