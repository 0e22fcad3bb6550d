import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { httpApiEvent, type LoopbackServer, listenOnLoopback, type RunningFunction } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFunctionRig, type FunctionRig } from '../../../packages/gateway/test/lambda/functionRig.ts';
import { makeCall } from '../../../packages/gateway/test/lambda/makeCall.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { alarmNamed } from '../rig/alarmNamed.ts';
import { isRaised } from '../rig/alarms.ts';
import { findOnly } from '../rig/readTemplate.ts';

type Line = Readonly<Record<string, unknown>>;

const deployment = { stage: '$default', basePath: '', domainName: 'api.example.org' };
const MINUTE = 60_000;

/** A field by its path, like `cause.name`. */
const fieldOf = (line: Line, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => Object(value)[name], line);

/** Runs a query of CloudWatch Logs Insights over lines of the log: as much of its language as the page uses. */
function query(text: string, lines: readonly Line[]): readonly Line[] {
  return text.split(' | ').reduce<readonly Line[]>((rows, command) => {
    const [, verb, rest = ''] = /^(\w+) (.*)$/.exec(command.trim()) ?? [];
    if (verb === 'filter') {
      const [, path = '', value] = /^([\w.@]+) = "([^"]*)"$/.exec(rest) ?? [];
      return rows.filter((line) => fieldOf(line, path) === value);
    }
    if (verb === 'stats') {
      const [, names = ''] = /^count\(\) by (.*)$/.exec(rest) ?? [];
      const keys = names.split(', ');
      const groups = Object.groupBy(rows, (line) => JSON.stringify(keys.map((key) => fieldOf(line, key))));
      return Object.entries(groups).map(([key, group = []]) => ({
        ...Object.fromEntries(keys.map((name, i) => [name, JSON.parse(key)[i]])),
        'count()': group.length,
      }));
    }
    if (verb === 'fields')
      return rows.map((line) => Object.fromEntries(rest.split(', ').map((name) => [name, fieldOf(line, name)])));
    if (verb === 'limit') return rows.slice(0, Number(rest));
    if (verb === 'sort') return rows;
    throw new Error(`The page asks for ${command}, which this test does not know.`);
  }, lines);
}

const page = readFileSync(new URL('../../../docs/operations-aws.md', import.meta.url), 'utf8');
/** The log queries that the page gives to an operator. */
const QUERIES = page.match(/^filter .*$/gm) ?? [];

describeWithDynamo('the log of faults of the tables, as the runbook asks it', () => {
  let rig: FunctionRig;
  /** Answers as DynamoDB does to a role without rights, and to the name of a table that is gone. */
  let refusing: LoopbackServer;
  let running: RunningFunction;
  let fault = 'AccessDeniedException';
  beforeAll(async () => {
    rig = await createFunctionRig();
    const server = createServer((_, response) => {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'AWS-REFUSED' });
      const message = 'User: arn:aws:sts::1:assumed-role/x is not authorized to perform: dynamodb:GetItem';
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${fault}`, message }));
    });
    refusing = await listenOnLoopback(server);
    running = await rig.start('refused', { AWS_ENDPOINT_URL_DYNAMODB: refusing.url });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await refusing.close();
  });

  /** Calls once. @returns the answer's status and text, and the log */
  async function read(name: string) {
    fault = name;
    const before = (await running.readOutput()).length;
    const call = makeCall({ target: '/requests/00000000-0000-7000-8000-000000000001' });
    const result = await running.invoke(httpApiEvent(call, deployment));
    // What the function answers with.
    const { statusCode, body } = result as { readonly statusCode: number; readonly body: string };
    const lines = (await running.readOutput()).slice(before).map((line) => JSON.parse(line) as Line);
    return { statusCode, body, lines };
  }

  const FAULTS = ['AccessDeniedException', 'ResourceNotFoundException'];

  it.each(FAULTS)('tells %s from an outage, with its request id, and not to the caller', async (name) => {
    const { statusCode, body, lines } = await read(name);
    expect(statusCode).toBe(503);
    expect(body).not.toContain('dynamodb');
    const [, byCause = '', byTime = '', byPeer = ''] = QUERIES;
    expect(query(byCause, lines)).toContainEqual({ code: 'DEPENDENCY_UNAVAILABLE', 'cause.name': name, 'count()': 1 });
    expect(query(byTime, lines)).toContainEqual({
      ...{ time: expect.anything(), code: 'DEPENDENCY_UNAVAILABLE', 'cause.name': name },
      ...{ 'cause.requestId': expect.stringMatching(/./), 'cause.message': expect.stringMatching(/./) },
    });
    expect(query(byPeer, lines)).toEqual([{ peer: expect.stringMatching(/^\d/), 'count()': 1 }]);
    const { requestId } = query('filter msg = "request"', lines)[0] ?? {};
    const ofCall = query((QUERIES[0] ?? '').replace('…', String(requestId)), lines);
    expect(ofCall.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  it('raises DeploymentFaults for both', async () => {
    const { FilterPattern, MetricTransformations } = findOnly('prod', 'AWS::Logs::MetricFilter').Properties;
    const pattern = String(FilterPattern);
    // Of CloudWatch's language: alternatives that compare one field.
    const matches = (line: Line) =>
      [...pattern.matchAll(/\$\.([\w.]+) = "(\w+)"/g)].some(([, path = '', value]) => fieldOf(line, path) === value);
    const [{ MetricNamespace, MetricName }] = MetricTransformations as [Readonly<Record<string, string>>];
    for (const name of FAULTS) {
      const { lines } = await read(name);
      const points = lines.filter(matches).map(() => ({
        ...{ namespace: MetricNamespace ?? '', name: MetricName ?? '', at: 60 * MINUTE, value: 1 },
      }));
      expect(isRaised(alarmNamed('DeploymentFaults'), points, 61 * MINUTE)).toBe(true);
      expect(isRaised(alarmNamed('DeploymentFaults'), points, 63 * MINUTE)).toBe(false);
    }
  });
});
