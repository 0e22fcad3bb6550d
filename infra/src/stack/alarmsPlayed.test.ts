import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { DYNAMO_TEST_ACCESS, httpApiEvent, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDynamoClient } from '../../../packages/gateway/src/drivers/dynamodb/createDynamoClient.ts';
import { createDynamoStores } from '../../../packages/gateway/src/drivers/dynamodb/createDynamoStores.ts';
import type { StoredRequest } from '../../../packages/gateway/src/ports/requestStore.ts';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from '../../../packages/gateway/test/lambda/functionRig.ts';
import { type CallFacts, makeCall, signCall } from '../../../packages/gateway/test/lambda/makeCall.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { alarmNamed } from '../rig/alarmNamed.ts';
import { type AlarmProperties, isRaised, type Point, pointsOf } from '../rig/alarms.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CHAIN = 'eip155:31337';
const relayer = { privateKey: generatePrivateKey() };
const relayerAddress = privateKeyToAddress(relayer.privateKey);

/** A function behind its URL, whose metrics are kept; time passes as it is asked to. */
function createPlay(running: RunningFunction) {
  const points: Point[] = [];
  let at = 24 * HOUR;
  let linesRead = 0;
  const add = (namespace: string, name: string, value = 1) => points.push({ namespace, name, at, value });
  async function readMetrics(): Promise<void> {
    const output = await running.readOutput();
    for (const text of output.slice(linesRead)) points.push(...pointsOf(JSON.parse(text), at));
    linesRead = output.length;
  }
  return {
    points,
    pass: (ms: number) => {
      at += ms;
    },
    isRaised: (alarm: AlarmProperties) => isRaised(alarm, points, at),
    /** Makes a call. @returns its status and parsed body; 500 if the function ended without an answer */
    async call(facts: CallFacts & { readonly signed?: true }) {
      const call = facts.signed ? await signCall(relayer, facts) : makeCall(facts);
      add('AWS/Lambda', 'UrlRequestCount');
      const answer = await running.invoke(httpApiEvent(call, deployment)).then(
        // What the function answers an HTTP API with.
        (result) => result as { readonly statusCode: number; readonly body: string },
        () => {
          add('AWS/Lambda', 'Errors');
          return { statusCode: 500, body: '{}' };
        },
      );
      if (answer.statusCode >= 500) add('AWS/Lambda', 'Url5xxCount');
      await readMetrics();
      return { status: answer.statusCode, body: JSON.parse(answer.body) };
    },
    /** Has what the instance has gathered written, as each minute does. */
    async flush(): Promise<void> {
      await running.invoke({ source: 'aws.events' });
      await readMetrics();
    },
    /** Lets the schedule ask for some minutes. */
    async measure(minutes: number): Promise<void> {
      for (let i = 0; i < minutes; i++) {
        await running.invoke({ source: 'aws.events' });
        await readMetrics();
        at += MINUTE;
      }
    },
  };
}

type Play = ReturnType<typeof createPlay>;

function createRecord(createdAt: number, chainName = CHAIN): StoredRequest {
  const { action, params } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
  const { signer } = params;
  const paramsJson = JSON.stringify(params);
  return {
    requestId: randomUUID(),
    chainName,
    action,
    signer,
    status: 'pending',
    paramsJson,
    createdAt,
    updatedAt: createdAt,
  };
}

describeWithDynamo('alarms, played with the built function', () => {
  let rig: FunctionRig;
  let count = 0;
  beforeAll(async () => {
    rig = await createFunctionRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** The store of the function's own tables, to put there what is older than the test. */
  function openStore(tables: string) {
    const env = rig.env(tables);
    return createDynamoStores({
      client: createDynamoClient({ endpoint: env.AWS_ENDPOINT_URL_DYNAMODB ?? '', ...DYNAMO_TEST_ACCESS }),
      tables: {
        requests: env.REQUESTS_TABLE ?? '',
        relayers: env.RELAYERS_TABLE ?? '',
        rateLimits: env.RATELIMIT_TABLE ?? '',
      },
      deliveriesTable: env.DELIVERIES_TABLE ?? '',
      indexShards: 4,
      requestRetentionDays: 0,
      pendingRetentionDays: 0,
      now: Date.now,
    }).requests;
  }

  async function startPlay(env: Readonly<Record<string, string>> = {}) {
    const tables = `alarms-${count++}`;
    const play = createPlay(await rig.start(tables, { CLAIM_LEASE_SECONDS: '900', ...env }));
    const addRelayer = { method: 'POST', target: '/admin/relayers', body: JSON.stringify({ address: relayerAddress }) };
    await play.call({ ...addRelayer, headers: [['X-Admin-Key', ADMIN_KEY]] });
    return { play, store: openStore(tables) };
  }

  const move = (play: Play, requestId: string, body: object) =>
    play.call({ method: 'PATCH', target: `/requests/${requestId}`, body: JSON.stringify(body), signed: true });

  it('OldestPending: until somebody claims, and not for what nobody has wanted for a day', async () => {
    const { play, store } = await startPlay();
    const alarm = alarmNamed('OldestPending');
    // More than any look reads, in a chain that is served and in one that is not.
    const junk = Array.from({ length: 120 }, (_, i) =>
      createRecord(Date.now() - 48 * HOUR - i, i % 2 ? CHAIN : 'none'),
    );
    await Promise.all(junk.map((record) => store.create(record)));
    await play.measure(5);
    expect(play.isRaised(alarm)).toBe(false);
    const record = createRecord(Date.now() - 11 * MINUTE);
    await store.create(record);
    await play.measure(5);
    expect(play.isRaised(alarm)).toBe(true);
    expect(await move(play, record.requestId, { status: 'processing' })).toMatchObject({ status: 200 });
    await play.measure(5);
    expect(play.isRaised(alarm)).toBe(false);
    // Silence is a fault.
    play.pass(6 * MINUTE);
    expect(play.isRaised(alarm)).toBe(true);
  });

  it('ClaimOverdue: until the claim is reported', async () => {
    const { play, store } = await startPlay();
    const alarm = alarmNamed('ClaimOverdue');
    const record = createRecord(Date.now() - HOUR);
    const { requestId } = record;
    await store.create(record);
    await store.claim({ requestId, relayer: relayerAddress, claimId: randomUUID(), now: Date.now() - 16 * MINUTE });
    await play.measure(5);
    // Beyond its lease by a minute.
    expect(play.isRaised(alarm)).toBe(false);
    const late = createRecord(Date.now() - HOUR);
    await store.create(late);
    await store.claim({
      requestId: late.requestId,
      relayer: relayerAddress,
      claimId: randomUUID(),
      now: Date.now() - 21 * MINUTE,
    });
    await play.measure(5);
    expect(play.isRaised(alarm)).toBe(true);
    expect(await move(play, late.requestId, { status: 'failed', errorMessage: 'none' })).toMatchObject({ status: 200 });
    await play.measure(5);
    expect(play.isRaised(alarm)).toBe(false);
  });

  it('ClaimsWithoutReports: until one is reported', async () => {
    const { play } = await startPlay();
    const alarm = alarmNamed('ClaimsWithoutReports');
    const claimed: string[] = [];
    for (let i = 0; i < 10; i++) {
      const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
      const { requestId } = (await play.call({ method: 'POST', target: '/requests', body })).body;
      expect(play.isRaised(alarm)).toBe(false);
      expect(await move(play, requestId, { status: 'processing' })).toMatchObject({ status: 200 });
      claimed.push(requestId);
    }
    await play.flush();
    play.pass(MINUTE);
    expect(play.isRaised(alarm)).toBe(true);
    expect(await move(play, claimed[0] ?? '', { status: 'failed', errorMessage: 'none' })).toMatchObject({
      status: 200,
    });
    await play.flush();
    play.pass(MINUTE);
    expect(play.isRaised(alarm)).toBe(false);
  });

  it('ServerErrors and ReleaseServerErrors: while a dependency is dark', async () => {
    const dark = createPlay(await rig.start('dark', { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }));
    const alarms = [alarmNamed('ServerErrors'), alarmNamed('ReleaseServerErrors')];
    for (let i = 0; i < 5; i++) expect(await dark.call({ target: '/ready' })).toMatchObject({ status: 503 });
    dark.pass(1000);
    for (const alarm of alarms) expect(dark.isRaised(alarm)).toBe(true);
    dark.pass(5 * MINUTE);
    for (let i = 0; i < 5; i++) expect(await dark.call({ target: '/health' })).toMatchObject({ status: 200 });
    dark.pass(1000);
    for (const alarm of alarms) expect(dark.isRaised(alarm)).toBe(false);
  });

  it('FunctionErrors and ReleaseFunctionErrors: while calls end without an answer', async () => {
    const file = join(rig.built.folder, 'breaking.mjs');
    const source = `import { handler as whole } from './index.mjs';
export const handler = (event, context) => { if (event.rawPath === '/ready') throw new Error('broken'); return whole(event, context); };`;
    await writeFile(file, source);
    await rig.start('breaking');
    await using running = await startFunction({ file, env: rig.env('breaking') });
    const play = createPlay(running);
    const alarms = [alarmNamed('FunctionErrors'), alarmNamed('ReleaseFunctionErrors')];
    for (let i = 0; i < 3; i++) expect(await play.call({ target: '/ready' })).toMatchObject({ status: 500 });
    play.pass(1000);
    for (const alarm of alarms) expect(play.isRaised(alarm)).toBe(true);
    play.pass(5 * MINUTE);
    expect(await play.call({ target: '/health' })).toMatchObject({ status: 200 });
    for (const alarm of alarms) expect(play.isRaised(alarm)).toBe(false);
  });

  it('ColdStarts: while instances end after five calls each', async () => {
    const play = createPlay(await rig.start('cold'));
    const alarm = alarmNamed('ColdStarts');
    for (let i = 0; i < 5; i++) await play.call({ target: '/health' });
    // Ten instances, each of which does as this one, in each of three periods.
    const [one, at] = [[...play.points], 24 * HOUR];
    const repeat = (minutes: number, points: readonly Point[]) =>
      Array.from({ length: 10 }, () => points.map((point) => ({ ...point, at: at + minutes * MINUTE }))).flat();
    const cold = [1, 6, 11].flatMap((minutes) => repeat(minutes, one));
    expect(isRaised(alarm, cold, at + 15 * MINUTE)).toBe(true);
    const warm = one.filter(({ name }) => name !== 'ColdStarts');
    expect(isRaised(alarm, [...cold, ...repeat(16, warm)], at + 20 * MINUTE)).toBe(false);
  });

  it('DailySpend: on a day on which as much is called as the budget pays for', async () => {
    const { play } = await startPlay();
    const alarm = alarmNamed('DailySpend');
    await play.flush();
    const before = play.points.length;
    const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
    for (let i = 0; i < 10; i++) await play.call({ method: 'POST', target: '/requests', body });
    await play.flush();
    const ten = play.points.slice(before);
    const unitsOfOne = ten.reduce((sum, { name, value }) => sum + (name === 'WriteUnits' ? value : 0), 0) / 10;
    // The record and two indexes, and a tenth of what counts the caller.
    expect(unitsOfOne).toBeGreaterThanOrEqual(3);
    const dayOf = (posts: number) => ten.map((point) => ({ ...point, value: (point.value * posts) / 10 }));
    const postsForBudget = 20 / ((unitsOfOne * 0.625 + 2.15) / 1e6);
    const dayEnd = 24 * HOUR + MINUTE;
    expect(isRaised(alarm, dayOf(postsForBudget), dayEnd)).toBe(true);
    expect(isRaised(alarm, dayOf(postsForBudget * 0.9), dayEnd)).toBe(false);
    // The next day begins anew.
    expect(isRaised(alarm, dayOf(postsForBudget), dayEnd + 24 * HOUR)).toBe(false);
  });
});
