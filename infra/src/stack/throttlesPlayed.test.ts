import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type FaultProxy, httpApiEvent, type RunningFunction, startFaultProxy } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from '../../../packages/gateway/test/lambda/functionRig.ts';
import { type CallFacts, makeCall } from '../../../packages/gateway/test/lambda/makeCall.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { alarmNamed } from '../rig/alarmNamed.ts';
import { isRaised, type Point } from '../rig/alarms.ts';
import { planThrottles } from '../rig/planThrottles.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const MINUTE = 60_000;
const ALARMS = ['RequestsThrottles', 'RequestsReadThrottles', 'RelayersThrottles', 'RateLimitThrottles'];

const admin = [['X-Admin-Key', ADMIN_KEY]] as const;
const post: CallFacts = { method: 'POST', target: '/requests', body: JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR) };
const read: CallFacts = { target: '/requests/00000000-0000-7000-8000-000000000001' };
const listRelayers: CallFacts = { target: '/admin/relayers', headers: admin };
const search: CallFacts = { target: '/requests?signer=0x5FbDB2315678afecb367f032d93F642f64180aa3' };

describeWithDynamo('throttles of the tables, played with the built function', () => {
  let rig: FunctionRig;
  let proxy: FaultProxy;
  let running: RunningFunction;
  beforeAll(async () => {
    rig = await createFunctionRig();
    const upstream = rig.env('throttled').AWS_ENDPOINT_URL_DYNAMODB ?? '';
    proxy = await startFaultProxy({ upstream, answers: 'dynamodb' });
    running = await rig.start('throttled', { AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await proxy.close();
  });

  async function call(facts: CallFacts): Promise<number> {
    const result = (await running.invoke(httpApiEvent(makeCall(facts), deployment))) as { readonly statusCode: number };
    return result.statusCode;
  }

  it.each([
    ['RequestsThrottles', 'requests', /PutItem|UpdateItem/, post, 201],
    ['RequestsReadThrottles', 'requests', /GetItem|Query/, read, 404],
    ['RelayersThrottles', 'relayers', /Scan|GetItem/, listRelayers, 200],
    ['RateLimitThrottles', 'ratelimit', /UpdateItem|Query|GetItem/, search, 200],
  ] as const)('%s: while its table throttles, and no other alarm', async (name, table, acts, facts, status) => {
    const points: Point[] = [];
    let at = 60 * MINUTE;
    const throttled = planThrottles(proxy, {
      isAffected: ({ target, tableName }) => tableName === `service-${table}-throttled` && acts.test(target),
      note: (event) =>
        points.push({
          ...{ namespace: 'AWS/DynamoDB', name: event, at, value: 1 },
          dimensions: { TableName: `service-${table}-prod` },
        }),
    });
    const raised = () => ALARMS.filter((one) => isRaised(alarmNamed(one), points, at));
    for (let period = 0; period < 2; period++) {
      expect(raised()).toEqual([]);
      for (const before = points.length; points.length - before < 10; )
        expect([503, status]).toContain(await call(facts));
      at += 5 * MINUTE;
    }
    expect(raised()).toEqual([name]);
    throttled.end();
    expect(await call(facts)).toBe(status);
    at += 5 * MINUTE;
    expect(raised()).toEqual([]);
  });
});
