import { CORS_HEADERS, type Route } from '@prism-gateway/protocol';
import { createFakeClock, createLogRecorder, type LogRecorder } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasFastShape } from '../../test/rigs/hasFastShape.ts';
import { NO_LIMITS } from '../../test/rigs/noLimits.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import { createMetrics } from '../drivers/prometheus/createMetrics.ts';
import { DependencyUnavailableError } from '../ports/errors.ts';
import { RequestNotFoundError } from '../requests/errors.ts';
import { createRouter } from './createRouter.ts';
import type { Endpoint } from './endpoint.ts';
import { unauthenticated } from './errors.ts';
import { createRateLimiter } from './rateLimit.ts';
import { type HttpRequest, parseBody, requireValid } from './request.ts';
import { jsonResponse } from './response.ts';

const MAX_BODY_BYTES = 100;
const PEER = { peerAddress: '192.0.2.1' };
const BASE = 'http://gateway.test';
/** As the AWS SDK throws it. */
const REFUSED = Object.assign(new Error('not authorized to perform: dynamodb:GetItem'), {
  name: 'AccessDeniedException',
  $metadata: { httpStatusCode: 400, requestId: 'AWS-1' },
});

const route = (facts: Pick<Route, 'method' | 'path'> & Partial<Route>): Route => ({
  access: 'public',
  rateLimit: facts.method === 'GET' ? 'reads' : 'writes',
  takesBody: facts.method === 'POST',
  success: 200,
  errors: [],
  ...facts,
});

/** A guarded route that can fail in every way. */
const guarded: Endpoint<string> = {
  route: route({ method: 'POST', path: '/things/{thingId}', access: 'admin' }),
  failureLimit: 'admin-failures',
  async authenticate({ raw }) {
    const key = raw.headers.get('x-key');
    if (key === null) throw unauthenticated('ADMIN_KEY_REJECTED', 'No key.');
    return { identity: key, client: `key:${key}` };
  },
  async handle({ body, params }, key) {
    const [value] = requireValid(parseBody(body, (json) => ({ value: json })));
    if (params.thingId === 'missing') throw new RequestNotFoundError('missing');
    return jsonResponse(200, { ...params, key, value });
  },
};

/** The calls that the open endpoint was given. */
const given: HttpRequest[] = [];

const open: Endpoint = {
  route: route({ method: 'GET', path: '/things/{thingId}' }),
  async handle(request) {
    given.push(request);
    const { method, path, query, params, peer } = request;
    return { ...jsonResponse(200, { method, path, query, params, peer }), headers: { 'x-method': method } };
  },
};

const failing = (path: string, error: unknown): Endpoint => ({
  route: route({ method: 'GET', path }),
  async handle() {
    throw error;
  },
});

let rig: SqliteRig;
let logger: LogRecorder;
beforeEach(async () => {
  given.length = 0;
  rig = await createSqliteRig();
  logger = createLogRecorder();
});
afterEach(() => rig.dispose());

function build(limits: { reads?: number; writes?: number; failures?: number } = {}) {
  const { now } = createFakeClock();
  const { reads = 0, writes = 0, failures = 0 } = limits;
  const rateLimits = { ...NO_LIMITS, reads, writes, 'admin-failures': failures, 'auth-failures': failures };
  const limiter = createRateLimiter(rig.open().rateLimits, rateLimits, now);
  const metrics = createMetrics({ readStats: async () => ({}) }, now);
  const mounts = [
    {
      prefix: '/mounted/',
      withApiHeaders: true,
      async fetch({ url }: Request) {
        if (url.endsWith('/throw')) throw new Error('a secret of the inside');
        if (url.endsWith('/gone')) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
        const headers = new Headers({ 'cache-control': 'max-age=1', 'x-request-id': 'not this' });
        for (const cookie of ['a=1', 'b=2']) headers.append('set-cookie', cookie);
        return new Response('mounted', { status: 203, headers });
      },
    },
    { prefix: '/plain/', withApiHeaders: false, fetch: async () => new Response('plain') },
  ];
  const context = { limiter, maxBodyBytes: MAX_BODY_BYTES, maxOpenCalls: 0, trustedProxyHops: 1, hasSpace: () => true };
  const router = createRouter({ metrics, logger, newId: () => 'prefix', mounts, ...context });
  router.serve(guarded);
  router.serve(open);
  router.serve(failing('/broken', new Error('a secret of the inside')));
  router.serve(failing('/away', new DependencyUnavailableError('store', { cause: REFUSED })));
  router.servePlain({ path: '/hello', answer: async () => jsonResponse(200, 'hello') });
  const { fetch: answer } = router.finish();
  return (method: string, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    // As HTTP clients do.
    if (typeof init.body === 'string') headers.set('content-length', String(init.body.length));
    return answer(new Request(`${BASE}${path}`, { method, ...init, headers }), PEER);
  };
}

const KEY = { 'x-key': 'k' };
const LARGE = 'x'.repeat(MAX_BODY_BYTES + 1);

describe('which error wins', () => {
  test.each<[number, string, string, RequestInit]>([
    [404, 'POST', '/nothing', { body: LARGE, headers: { 'content-type': 'text/plain' } }],
    [405, 'PATCH', '/things/missing', { body: LARGE, headers: { 'content-type': 'text/plain' } }],
    [413, 'POST', '/things/missing', { body: LARGE, headers: { 'content-type': 'text/plain' } }],
    [415, 'POST', '/things/missing', { body: '{', headers: { 'content-type': 'text/plain' } }],
    [401, 'POST', '/things/missing', { body: '{', headers: { 'content-type': 'application/json' } }],
    [400, 'POST', '/things/missing', { body: '{', headers: { 'content-type': 'application/json', ...KEY } }],
    [404, 'POST', '/things/missing', { body: '{}', headers: { 'content-type': 'application/json', ...KEY } }],
    [200, 'POST', '/things/one', { body: '{}', headers: { 'content-type': 'application/json', ...KEY } }],
  ])('%i of %s %s', async (status, method, path, init) => {
    expect((await build()(method, path, init)).status).toBe(status);
  });
});

describe('limits', () => {
  test('every answer that was counted says how much is left', async () => {
    const call = build({ reads: 5, failures: 5 });
    for (const response of [
      await call('GET', '/things/a'),
      await call('POST', '/things/a', { body: LARGE }),
      await call('POST', '/things/a'),
    ]) {
      expect(response.headers.get('ratelimit')).toMatch(/^"(reads|auth-failures|admin-failures)";r=\d;t=\d+$/);
    }
  });
});

describe('methods', () => {
  test('HEAD is GET without the body, and is itself to who checks signatures', async () => {
    const call = build();
    const [head, get] = [await call('HEAD', '/things/a'), await call('GET', '/things/a')];
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      get.headers.get('content-type'),
      '',
    ]);
    expect(head.headers.get('x-method')).toBe('HEAD');
    const missing = await call('HEAD', '/nothing');
    expect([missing.status, await missing.text()]).toEqual([404, '']);
    expect((await call('HEAD', '/hello')).status).toBe(200);
  });
});

test('the call has its path as sent, its query, its decoded parameters and its peer', async () => {
  const call = build();
  const response = await call('GET', '/things/a%20b?x=%31&y', {
    headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' },
  });
  expect(await response.json()).toEqual({
    method: 'GET',
    path: '/things/a%20b',
    query: 'x=%31&y',
    params: { thingId: 'a b' },
    peer: '203.0.113.7',
  });
});

describe('what is thrown', () => {
  // Shows ERROR-13.
  test.each(['/broken', '/mounted/throw'])('%s: the unknown is a plain 500, logged with the id', async (path) => {
    const response = await build()('GET', path);
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
    expect(Object.fromEntries(response.headers)).toMatchObject(CORS_HEADERS);
    const logged = logger.lines.find(({ level }) => level === 'error');
    expect(logged?.fields).toMatchObject({ requestId: response.headers.get('x-request-id'), code: 'UNEXPECTED' });
  });

  test('a dependency that does not answer is 503 with Retry-After; the log says what it said', async () => {
    const response = await build()('GET', '/away');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.text()).not.toContain('dynamodb');
    const logged = logger.lines.find(({ level }) => level === 'error');
    const { name, message } = REFUSED;
    expect(logged?.fields).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      cause: { name, message, requestId: 'AWS-1' },
    });
  });

  test('a body that broke off in a mount is the client’s fault, and no error of ours', async () => {
    expect((await build()('POST', '/mounted/gone')).status).toBe(400);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('a mount', () => {
  test('keeps its own headers, doubled ones too, and gets the API’s where it has none', async () => {
    const { status, headers } = await build()('GET', '/mounted/x');
    expect([status, headers.get('cache-control'), headers.getSetCookie()]).toEqual([203, 'max-age=1', ['a=1', 'b=2']]);
    expect(headers.get('x-request-id')).toMatch(/^prefix-/);
    expect(Object.fromEntries(headers)).toMatchObject(CORS_HEADERS);
  });

  test('without the API’s headers has none of them but the id', async () => {
    const { headers } = await build()('GET', '/plain/x');
    expect([headers.get('access-control-allow-origin'), headers.has('x-request-id')]).toEqual([null, true]);
  });

  test('begins at its slash', async () => {
    expect((await build()('GET', '/mounted')).status).toBe(404);
  });
});

test('a path that is not there is repeated no longer than 200 letters, and counted under one name', async () => {
  const response = await build()('GET', `/${'a'.repeat(5000)}`);
  expect((await response.text()).length).toBeLessThan(300);
  expect(logger.lines.at(-1)?.fields).toMatchObject({ route: 'unmatched', status: 404 });
});

test('no request that an endpoint is given is a table of its own', async () => {
  const call = build();
  for (let i = 0; i < 3; i++) await call('GET', `/things/${i}`);
  expect(given.map(hasFastShape)).toEqual([true, true, true]);
});
