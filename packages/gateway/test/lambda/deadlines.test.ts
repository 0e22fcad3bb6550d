import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type BlackHole, httpApiEvent, type RunningFunction, startBlackHole } from '@prism-gateway/testing';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import type { SeenAnswer } from './answer.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from './functionRig.ts';
import { makeCall, signCall } from './makeCall.ts';
import { sendToFunction } from './sendToFunction.ts';

/** Well before the 29 seconds of the function, and before a caller loses patience; in milliseconds. */
const TIMEOUT_MS = 25_000;

const deployment = { stage: '$default', basePath: '', domainName: 'gateway.example.org' };
const relayer = { privateKey: generatePrivateKey() };
const order = JSON.stringify({ projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}`, operation: 'get' });
const id = '0197f3c6-6c1e-7a52-8d0f-3b1c5a7e9d24';

const calls = {
  create: makeCall({ method: 'POST', target: '/requests', body: JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR) }),
  read: makeCall({ target: `/requests/${id}` }),
  list: makeCall({ target: `/requests?signer=${EXAMPLE_REQUESTS.WRITE_DATA_FOR.params.signer}` }),
  claim: await signCall(relayer, { method: 'PATCH', target: `/requests/${id}`, body: '{"status":"processing"}' }),
  whitelist: makeCall({ target: '/admin/relayers', headers: [['X-Admin-Key', ADMIN_KEY]] }),
  sign: makeCall({ method: 'POST', target: '/storage/sign', headers: [['Authorization', 'Bearer a.b']], body: order }),
  ready: makeCall({ target: '/ready' }),
};

async function sendTimed(running: RunningFunction, name: keyof typeof calls, limitMs?: number) {
  const startedAt = performance.now();
  const answer = await sendToFunction(running, calls[name], httpApiEvent(calls[name], deployment), limitMs);
  return { answer, ms: performance.now() - startedAt };
}

function expectOutage({ status, headers, body }: SeenAnswer): void {
  expect({ status, body }).toMatchObject({ status: 503, body: expect.stringMatching(/^\{"error":".+"\}$/) });
  expect(headers).toMatchObject({ 'retry-after': expect.stringMatching(/^\d+$/), 'access-control-allow-origin': '*' });
}

describeWithDynamo('a dependency that hangs', () => {
  let rig: FunctionRig;
  let hole: BlackHole;

  beforeAll(async () => {
    [rig, hole] = await Promise.all([createFunctionRig(), startBlackHole()]);
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await hole.close();
  });

  const forDynamo = () => ({ AWS_ENDPOINT_URL_DYNAMODB: hole.url });

  it('keeps no instance from beginning: it looks on, and answers 503 meanwhile', async () => {
    const timeStart = async (name: string, env = {}) => {
      const startedAt = performance.now();
      await rig.start(name, env);
      return performance.now() - startedAt;
    };
    const lightMs = await timeStart('light');
    // Once six seconds were waited for.
    expect((await timeStart('dark', forDynamo())) - lightMs).toBeLessThan(3000);
  });

  it('is 503 well before the time limit, for every route that needs the tables', async () => {
    const running = await rig.start('dead-tables', forDynamo());
    const names = ['create', 'read', 'list', 'claim', 'whitelist', 'sign', 'ready'] as const;
    const answers = await Promise.all(names.map((name) => sendTimed(running, name)));
    expect(hole.connections()).toBeGreaterThan(0);
    for (const { answer, ms } of answers) {
      expectOutage(answer);
      expect(ms).toBeLessThan(TIMEOUT_MS);
    }
  });

  it('is 503 well before the time limit where it is the identity provider', async () => {
    const running = await rig.start('dead-identity', { IDENTITY_ISSUER: hole.url });
    const { answer, ms } = await sendTimed(running, 'sign');
    expectOutage(answer);
    expect(answer.body).toContain('identity provider');
    expect(ms).toBeLessThan(TIMEOUT_MS);
  });

  it('is 503 two seconds before the time limit, whatever it is', async () => {
    const running = await rig.start('late', forDynamo());
    const { answer } = await sendTimed(running, 'read', 2500);
    expectOutage(answer);
    // The dead table alone would be an outage after six seconds, with another code.
    expect((await running.readOutput()).join('\n')).toContain('"code":"DEADLINE"');
  });
});
