import { setTimeout } from 'node:timers/promises';
import type { Route } from '@prism-gateway/protocol';
import { createFakeClock, createLogRecorder } from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_LIMITS } from '../../test/rigs/noLimits.ts';
import { createSqliteRig, type SqliteRig } from '../../test/rigs/sqliteStores.ts';
import { createMetrics } from '../drivers/prometheus/createMetrics.ts';
import { DependencyUnavailableError } from '../ports/errors.ts';
import { createRouter } from './createRouter.ts';
import type { Endpoint } from './endpoint.ts';
import { unauthenticated } from './errors.ts';
import { createRateLimiter } from './rateLimit.ts';
import type { RateLimits } from './rateLimits.ts';
import { jsonResponse } from './response.ts';

const PEER = { peerAddress: '192.0.2.1' };

let rig: SqliteRig;
beforeEach(async () => {
  rig = await createSqliteRig();
});
afterEach(() => rig.dispose());

function routeOf(method: Route['method']): Route {
  const takesBody = method !== 'GET';
  return { method, path: '/guarded', access: 'admin', rateLimit: 'writes', takesBody, success: 200, errors: [] };
}

interface Guard {
  /** Resolves before any key is checked. */
  readonly authenticated?: Promise<void>;
  readonly signsBody?: boolean;
  /** Tells who calls before it is checked. */
  readonly claims?: boolean;
}

/** Serves one guarded route, by `GET` and by `POST`; only keys that begin with `right` are let in. */
function build(limits: Partial<RateLimits>, { authenticated, signsBody = true, claims = false }: Guard = {}) {
  const { now } = createFakeClock();
  const evaluated: string[] = [];
  const guarded = (method: Route['method']): Endpoint<string> => ({
    route: routeOf(method),
    ...(claims && { claimedCaller: ({ raw }) => raw.headers.get('x-claims') ?? '' }),
    signsBody,
    async authenticate(call) {
      const key = call.raw.headers.get('x-key') ?? '';
      evaluated.push(`${call.method} ${key}`);
      await authenticated;
      if (key === 'unlucky') throw new DependencyUnavailableError('identity provider');
      if (!key.startsWith('right')) throw unauthenticated('ADMIN_KEY_REJECTED', 'The key is wrong.');
      return { identity: key, client: `key:${key}` };
    },
    handle: async () => jsonResponse(200, 'done'),
  });
  const rateLimits = { ...NO_LIMITS, ...limits };
  const router = createRouter({
    limiter: createRateLimiter(rig.open().rateLimits, rateLimits, now),
    metrics: createMetrics({ readStats: async () => ({}) }, now),
    logger: createLogRecorder(),
    newId: () => 'prefix',
    mounts: [],
    maxBodyBytes: 100,
    hasSpace: () => true,
    maxOpenCalls: 0,
    trustedProxyHops: 0,
  });
  router.serve(guarded('GET'));
  router.serve(guarded('POST'));
  router.serve({ route: { ...routeOf('POST'), path: '/open' }, handle: async () => jsonResponse(200, 'done') });
  const { fetch: answer } = router.finish();
  const call = (init: RequestInit) => answer(new Request('http://gateway.test/guarded', init), PEER);
  const callPublic = (init: RequestInit = {}) =>
    answer(new Request('http://gateway.test/open', { method: 'POST', ...init }), PEER);
  return { call, callPublic, evaluated, answer };
}

const withKey = (key: string, init: RequestInit = {}): RequestInit => ({
  method: 'POST',
  headers: { 'x-key': key },
  ...init,
});

describe('a peer over its limit', () => {
  test('is refused before its key is looked at, the right one too, and before its body is read', async () => {
    const { call, evaluated } = build({ 'auth-failures': 2 });
    for (let i = 0; i < 2; i++) expect((await call(withKey('wrong'))).status).toBe(401);
    let wasRead = false;
    const source = {
      pull(controller: ReadableStreamDefaultController) {
        wasRead = true;
        controller.close();
      },
    };
    // Nothing is pulled before somebody reads.
    const body = new ReadableStream(source, { highWaterMark: 0 });
    const answer = await call(withKey('right', { body, duplex: 'half' }));
    expect([answer.status, evaluated, wasRead]).toEqual([429, ['POST wrong', 'POST wrong'], false]);
  });
});

// Shows ERROR-15.
test('the body of a call is not read before its key is checked, unless the key covers it', async () => {
  const { call } = build({}, { signsBody: false });
  for (const [key, status] of [
    ['wrong', 401],
    ['right', 200],
  ] as const) {
    let wasRead = false;
    const source = {
      pull(controller: ReadableStreamDefaultController) {
        wasRead = true;
        controller.close();
      },
    };
    const body = new ReadableStream(source, { highWaterMark: 0 });
    const answer = await call(withKey(key, { body, duplex: 'half' }));
    expect([answer.status, wasRead]).toEqual([status, status === 200]);
  }
});

// Shows LIMIT-10.
test('calls at once reach authentication at most as often as the limit of their peer has room for', async () => {
  const release = Promise.withResolvers<void>();
  const { call, evaluated } = build({ 'auth-failures': 5 }, { authenticated: release.promise });
  const answers = Array.from({ length: 30 }, () => call(withKey('wrong')));
  await expect.poll(() => evaluated).toHaveLength(5);
  release.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(25);
  expect(evaluated).toHaveLength(5);
});

test('good calls beyond the room of their peer wait for it, and are all answered', async () => {
  const release = Promise.withResolvers<void>();
  const { call, evaluated } = build({ 'auth-failures': 5 }, { authenticated: release.promise });
  // Each is counted by itself once it is let in.
  const answers = Array.from({ length: 20 }, (_, i) => call(withKey(`right ${i}`)));
  await expect.poll(() => evaluated).toHaveLength(5);
  release.resolve();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  expect(evaluated).toHaveLength(20);
});

// Shows LIMIT-10.
test('no more than 100 calls of a peer are authenticated at once, whatever its limit', async () => {
  const release = Promise.withResolvers<void>();
  const { call, evaluated } = build({ 'auth-failures': 1000 }, { authenticated: release.promise });
  const answers = Array.from({ length: 150 }, () => call(withKey('right')));
  await expect.poll(() => evaluated).toHaveLength(100);
  // Time for one too many.
  await setTimeout(20);
  expect(evaluated).toHaveLength(100);
  release.resolve();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
});

// Shows LIMIT-9.
test('what fails by no fault of the caller is counted against nobody', async () => {
  const { call } = build({ 'auth-failures': 2 });
  for (let i = 0; i < 5; i++) expect((await call(withKey('unlucky'))).status).toBe(503);
  expect((await call(withKey('right'))).status).toBe(200);
});

// Shows LIMIT-9.
test('a body that is too large counts for the peer, whether it is all there or still to come', async () => {
  const { call, answer } = build({ 'auth-failures': 2 });
  const large = new Uint8Array(101);
  const request = new Request('http://gateway.test/guarded', withKey('right', { body: large }));
  const arrived = await answer(request, { ...PEER, arrivedBody: () => large });
  const later = await call(withKey('right', { body: large }));
  const after = await call(withKey('right'));
  expect([arrived.status, later.status, after.status]).toEqual([413, 413, 429]);
  expect(arrived.headers.get('ratelimit')).toContain('r=1;');
});

// Shows LIMIT-13.
test('who has authenticated from a peer before is not refused for the failures of others there', async () => {
  const { call } = build({ 'auth-failures': 2, writes: 50 }, { claims: true });
  const as = (key: string, claimed: string) => call(withKey(key, { headers: { 'x-key': key, 'x-claims': claimed } }));
  expect((await as('right one', 'relayer')).status).toBe(200);
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await as('wrong', 'anybody')).status);
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect((await as('wrong', 'relayer')).status, 'also who gives himself out for it').toBe(429);
  expect((await as('right one', 'relayer')).status).toBe(200);
  expect((await as('right two', 'newcomer')).status).toBe(429);
});

test('a HEAD call is authenticated as HEAD, which is what its client has signed', async () => {
  const { call, evaluated } = build({});
  expect((await call(withKey('right', { method: 'HEAD' }))).status).toBe(200);
  expect((await call(withKey('right', { method: 'GET' }))).status).toBe(200);
  expect(evaluated).toEqual(['HEAD right', 'GET right']);
});
