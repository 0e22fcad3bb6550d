import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listenOnLoopback, type RunningFunction, startFunction } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_KEY, createFunctionRig, type FunctionRig } from '../../../packages/gateway/test/lambda/functionRig.ts';
import { describeWithDynamo } from '../../../packages/gateway/test/rigs/dynamoStores.ts';
import { createHook } from './createHook.ts';
import { createInvokeFetch } from './createInvokeFetch.ts';

const event = { DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'e-1' };
const ORIGIN_SECRET = 's'.repeat(48);

/** Checks a version. @returns what CodeDeploy was answered, and the log */
async function evaluate(version: RunningFunction, adminKey = ADMIN_KEY, publicUrl?: string) {
  const reported: string[] = [];
  const log: string[] = [];
  const hook = createHook({
    publicUrl,
    invoke: (call) => version.invoke(call),
    readAdminKey: async () => adminKey,
    readOriginSecret: async () => `${ORIGIN_SECRET},${'o'.repeat(48)}`,
    report: async ({ DeploymentId }, status) => void reported.push(`${DeploymentId} ${status}`),
    log: (line) => log.push(line),
  });
  await hook(event);
  return { reported, log: log.join('\n') };
}

/** An edge in front of a version, which sends a secret. @returns its address, and what ends it */
async function startEdge(version: RunningFunction, originSecret: string) {
  const callVersion = createInvokeFetch({ invoke: (call) => version.invoke(call), originSecret });
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    const { method = '', url } = incoming;
    // Node joins what comes twice, but for cookies, of which there are none.
    const headers = incoming.headers as Record<string, string>;
    const answer = await callVersion(`https://edge.invalid${url}`, {
      method,
      headers,
      ...(body.length > 0 && { body }),
    });
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  return await listenOnLoopback(server);
}

/** Bad builds: the function, with a fault in front. */
const BAD_BUILDS: Readonly<Record<string, string>> = {
  'says yes to claims and does nothing': `
    if (http?.method !== 'PATCH') return await handler(event, context);
    const read = { ...event, requestContext: { ...event.requestContext, http: { ...http, method: 'GET' } } };
    return await handler(read, context);`,
  'fails at every claim': `
    if (http?.method === 'PATCH') return { statusCode: 500, body: '{"error":"broken"}' };
    return await handler(event, context);`,
  'ends without an answer': "if (http) throw new Error('broken'); return await handler(event, context);",
  'answers with something that is no answer': "if (http) return 'yes'; return await handler(event, context);",
};

describeWithDynamo('the hook of a release', () => {
  let rig: FunctionRig;
  beforeAll(async () => {
    rig = await createFunctionRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  // Shows AWS-6.
  it('lets a good build pass, and leaves no relayer behind', async () => {
    const version = await rig.start('good', { ORIGIN_SECRET });
    expect(await evaluate(version)).toEqual({ reported: ['d-1 Succeeded'], log: '' });
    const fetch = createInvokeFetch({ invoke: (call) => version.invoke(call), originSecret: ORIGIN_SECRET });
    const answer = await fetch('https://any.invalid/admin/relayers', { headers: { 'x-admin-key': ADMIN_KEY } });
    expect(await answer.json()).toEqual({ relayers: [], count: 0 });
  });

  // Shows AWS-5.
  it('takes back one that does not know the secret of the edge that clients come by', async () => {
    const version = await rig.start('behind', { ORIGIN_SECRET });
    const [edge, stale] = [await startEdge(version, ORIGIN_SECRET), await startEdge(version, 'x'.repeat(48))];
    try {
      expect(await evaluate(version, ADMIN_KEY, edge.url)).toEqual({ reported: ['d-1 Succeeded'], log: '' });
      const { reported, log } = await evaluate(version, ADMIN_KEY, stale.url);
      expect(reported).toEqual(['d-1 Failed']);
      expect(log).toContain('/ready: expected 200, found 403');
    } finally {
      await Promise.all([edge.close(), stale.close()]);
    }
  });

  it('stops one whose tables do not answer', async () => {
    const version = await rig.start('dark', { ORIGIN_SECRET, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' });
    const { reported, log } = await evaluate(version);
    expect(reported).toEqual(['d-1 Failed']);
    expect(log).toContain('/ready: expected 200, found 503');
  });

  it('stops one that knows another key, and does not tell it', async () => {
    const version = await rig.start('locked', { ORIGIN_SECRET });
    const { reported, log } = await evaluate(version, 'k'.repeat(40));
    expect(reported).toEqual(['d-1 Failed']);
    expect(log).not.toContain('kkkk');
  });

  it.each(Object.entries(BAD_BUILDS))('stops one that %s', async (name, body) => {
    const file = join(rig.built.folder, `bad-${Object.keys(BAD_BUILDS).indexOf(name)}.mjs`);
    const wrapper = `import { handler as whole } from './index.mjs';
export const handler = async (event, context) => { const handler = whole; const http = event?.requestContext?.http; ${body} };`;
    await writeFile(file, wrapper);
    await rig.start('bad', { ORIGIN_SECRET });
    const version = await startFunction({ file, env: { ...rig.env('bad'), ORIGIN_SECRET } });
    try {
      expect((await evaluate(version)).reported).toEqual(['d-1 Failed']);
    } finally {
      await version.close();
    }
  });
});
