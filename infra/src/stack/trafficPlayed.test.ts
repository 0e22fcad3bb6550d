import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import {
  type FaultProxy,
  httpApiEvent,
  type RunningFunction,
  startFaultProxy,
  startFunction,
} from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFunctionRig, type FunctionRig } from '../../../packages/gateway/test/lambda/functionRig.ts';
import { type CallFacts, makeCall } from '../../../packages/gateway/test/lambda/makeCall.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { alarmNamed } from '../rig/alarmNamed.ts';
import { type EmfLine, isRaised, type Point, pointsOf } from '../rig/alarms.ts';
import { findOnly } from '../rig/readTemplate.ts';

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const MINUTE = 60_000;
const PERIOD = 5 * MINUTE;
const absent: CallFacts = { target: '/requests/00000000-0000-7000-8000-000000000001' };
const post: CallFacts = { method: 'POST', target: '/requests', body: JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR) };

async function send(running: RunningFunction, facts: CallFacts) {
  const result = await running.invoke(httpApiEvent(makeCall(facts), deployment));
  // What the function answers an HTTP API with.
  return result as { readonly statusCode: number; readonly body: string };
}

const isRead = ({ headers }: { readonly headers: NodeJS.Dict<string | string[]> }) =>
  String(headers['x-amz-target']).endsWith('.GetItem');

describeWithDynamo('alarms of how calls go, played with the built function', () => {
  let rig: FunctionRig;
  let proxy: FaultProxy;
  let running: RunningFunction;
  let linesRead = 0;
  beforeAll(async () => {
    rig = await createFunctionRig();
    proxy = await startFaultProxy({
      upstream: rig.env('traffic').AWS_ENDPOINT_URL_DYNAMODB ?? '',
      answers: 'dynamodb',
    });
    running = await rig.start('traffic', { AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
    linesRead = (await running.readOutput()).length;
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await proxy.close();
  });

  /** The points written since the last call, as the alarms read them. */
  async function readPoints(at: number): Promise<Point[]> {
    // The minute's measuring writes what was gathered.
    await running.invoke({ source: 'aws.events' });
    const lines = await running.readOutput();
    const points = lines.slice(linesRead).flatMap((line) => pointsOf(JSON.parse(line) as EmfLine, at));
    linesRead = lines.length;
    return points;
  }

  it('Latency: while the table is slow, and not while calls wait for something to happen', async () => {
    const alarm = alarmNamed('Latency');
    const points: Point[] = [];
    let at = 60 * MINUTE;
    async function passPeriod(facts: CallFacts, status: number) {
      expect(await send(running, facts)).toMatchObject({ statusCode: status });
      points.push(...(await readPoints(at)));
      at += PERIOD;
    }
    const { requestId } = JSON.parse((await send(running, post)).body);
    await readPoints(at);
    // Nobody claims it: each of these takes longer than the alarm's threshold.
    for (let i = 0; i < 3; i++) await passPeriod({ target: `/requests/${requestId}?status=pending&wait=3` }, 200);
    expect(isRaised(alarm, points, at)).toBe(false);
    for (let i = 0; i < 3; i++) {
      expect(isRaised(alarm, points, at)).toBe(false);
      // Given up after 1.3 s each, and tried again.
      proxy.planFaults(['stallBefore', 'stallBefore'], isRead);
      await passPeriod(absent, 404);
    }
    expect(isRaised(alarm, points, at)).toBe(true);
    // Beside two hundred that are quick it is none of a hundred any more.
    const quick = Array.from({ length: 200 }, () => ({ ...(points[0] as Point), at: at - 1, value: 5 }));
    expect(isRaised(alarm, [...points, ...quick], at)).toBe(false);
    await passPeriod(absent, 404);
    expect(isRaised(alarm, points, at)).toBe(false);
  });

  it('NearInstances: while nine tenths of the instances are at work, of which none is wanting yet', () => {
    const alarm = alarmNamed('NearInstances');
    const points: Point[] = [];
    let at = 60 * MINUTE;
    function passMinute(value: number): void {
      points.push({ namespace: 'AWS/Lambda', name: 'ConcurrentExecutions', at, value });
      at += MINUTE;
    }
    for (let i = 0; i < 3; i++) {
      expect(isRaised(alarm, points, at)).toBe(false);
      passMinute(90);
    }
    expect(isRaised(alarm, points, at)).toBe(true);
    for (let i = 0; i < 3; i++) passMinute(70);
    expect(isRaised(alarm, points, at)).toBe(false);
  });

  it('FunctionThrottles: while a slow table keeps all instances, and a call finds none', async () => {
    const alarm = alarmNamed('FunctionThrottles', 'other');
    const { ReservedConcurrentExecutions: reserved } = findOnly(
      'other',
      'AWS::Lambda::Function',
      'Function',
    ).Properties;
    const env = { ...rig.env('traffic'), AWS_ENDPOINT_URL_DYNAMODB: proxy.url };
    const others = await Promise.all(
      Array.from({ length: Number(reserved) - 1 }, () => startFunction({ file: rig.built.file, env })),
    );
    const idle = [running, ...others];
    const points: Point[] = [];
    let at = 60 * MINUTE;
    /** As Lambda does: an instance has one call at a time, and there are no more of them than are reserved. */
    async function call(facts: CallFacts): Promise<number> {
      const instance = idle.pop();
      if (instance === undefined) {
        points.push({ namespace: 'AWS/Lambda', name: 'Throttles', at, value: 1 });
        return 503;
      }
      return (await send(instance, facts).finally(() => idle.push(instance))).statusCode;
    }
    const raised = () => isRaised(alarm, points, at);
    try {
      for (let i = 0; i <= others.length; i++) expect(await call(absent)).toBe(404);
      at += PERIOD;
      expect(raised()).toBe(false);
      proxy.planFaults(['stallBefore', 'stallBefore'], isRead);
      const slow = [running, ...others].map(() => call(absent));
      expect(await call(absent)).toBe(503);
      at += PERIOD;
      expect(raised()).toBe(true);
      expect(await Promise.all(slow)).toEqual(idle.map(() => 404));
      expect(await call(absent)).toBe(404);
      at += PERIOD;
      expect(raised()).toBe(false);
    } finally {
      await Promise.all(others.map((one) => one.close()));
    }
  });
});
