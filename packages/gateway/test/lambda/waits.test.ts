import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { httpApiEvent, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { type CallFacts, makeCall, signCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const relayer = { privateKey: generatePrivateKey() };
const { chainName } = EXAMPLE_REQUESTS.DELETE_DATA_FOR;

interface Reported {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // Of any shape: tests look into it.
  readonly body: Readonly<Record<string, unknown>>;
}

describeWithDynamo('waiting in the built function', () => {
  let rig: FunctionRig;
  let waiting: RunningFunction;
  let acting: RunningFunction;

  async function call(running: RunningFunction, facts: CallFacts, isSigned = false): Promise<Reported> {
    const made = isSigned ? await signCall(relayer, facts) : makeCall(facts);
    const { status, headers, body } = await sendToFunction(running, made, httpApiEvent(made, deployment));
    return { status, headers, body: JSON.parse(Buffer.from(body, 'latin1').toString()) };
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

  const askAgain = expect.objectContaining({ 'retry-after': '1' });

  // Shows WAIT-3.
  it('keeps no call: it answers at once, and says when to ask again if nothing has happened', async () => {
    const requestId = await create();
    const read = (status: string) => call(waiting, { target: `/requests/${requestId}?status=${status}&wait=25` });
    const startedAt = performance.now();
    expect(await read('pending')).toMatchObject({ status: 200, body: { status: 'pending' }, headers: askAgain });
    expect(await read('processing')).toMatchObject({ status: 200, headers: expect.not.objectContaining(askAgain) });
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
  });

  // Shows WAIT-3, FEED-1.
  it('feeds a relayer what another instance has stored, at its next look', async () => {
    const feed = (query: string) => call(waiting, { target: `/requests/feed?chainName=${chainName}&${query}` }, true);
    // "Now" begins a second ago: what the tests before have stored is listed until then.
    let from: Reported | undefined;
    const begin = async () => {
      from = await feed('from=now&wait=25');
      return from;
    };
    await expect
      .poll(begin, { timeout: TIMEOUT_MS })
      .toMatchObject({ status: 200, body: { items: [] }, headers: askAgain });
    const requestId = await create();
    const next = () => feed(`cursor=${encodeURIComponent(String(from?.body.cursor))}&wait=25`);
    expect(await next()).toMatchObject({ body: { count: 1, items: [{ requestId }] } });
    expect((await next()).headers).not.toHaveProperty('retry-after');
    // Looks that find nothing are no lines of the log, which is paid for by its size.
    const { cursor } = (await next()).body;
    const before = (await waiting.readOutput()).length;
    const idle = await feed(`cursor=${encodeURIComponent(String(cursor))}&wait=25`);
    expect(idle).toMatchObject({ body: { count: 0 }, headers: askAgain });
    expect((await waiting.readOutput()).slice(before)).toEqual([]);
  });

  it('answers an administrator who waits for news at once', async () => {
    const headers = [['X-Admin-Key', ADMIN_KEY]] as const;
    const stats = (query: string) => call(waiting, { target: `/admin/stats${query}`, headers });
    const { version } = (await stats('')).body;
    expect(await stats(`?seen=${String(version)}&wait=25`)).toMatchObject({ status: 200 });
  });

  // 45 calls a second of one address, each of which held its instance for 5 s, once held 231 instances of 100.
  it('answers a thousand waits of one address with five instances, each as soon as a read', async () => {
    const requestId = await create();
    const others = await Promise.all(
      Array.from({ length: 3 }, () => startFunction({ file: rig.built.file, env: rig.env('waits') })),
    );
    const reported = new Set<string>();
    /** @returns milliseconds a call, of five instances that answer one at a time */
    async function play(count: number, query: string): Promise<number> {
      let left = count;
      const startedAt = performance.now();
      await Promise.all(
        [waiting, acting, ...others].map(async (instance) => {
          while (left-- > 0) {
            const { status, headers } = await call(instance, { target: `/requests/${requestId}${query}` });
            reported.add(`${query === '' ? 'read' : 'wait'}: ${status}, ${headers['retry-after'] ?? 'no Retry-After'}`);
          }
        }),
      );
      return (performance.now() - startedAt) / count;
    }
    const readMs = await play(300, '');
    const waitMs = await play(1000, '?status=pending&wait=5');
    await Promise.all(others.map((one) => one.close()));
    expect([...reported]).toEqual(['read: 200, no Retry-After', 'wait: 200, 1']);
    expect(waitMs).toBeLessThan(3 * readMs);
  });
});
