import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { CORS_OF_SPECIFICATION } from '../rig/checkAnswer.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { errorOf } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { sendRaw } from '../rig/sendRaw.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

/** Each path of the API, with its methods. */
const ROUTES = [
  { path: '/storage/sign', methods: ['POST'] },
  { path: '/requests', methods: ['GET', 'POST'] },
  { path: `/requests/${randomUUID()}`, methods: ['GET', 'PATCH'] },
  { path: '/admin/relayers', methods: ['GET', 'POST'] },
  { path: `/admin/relayers/${randomHex(20)}`, methods: ['GET', 'DELETE'] },
  { path: '/requests/claims', methods: ['POST'] },
] as const;

const UNKNOWN = [
  '/nothing',
  '/requests/',
  '/request',
  '/Requests',
  '/admin',
  '/storage',
  '/storage/sign/x',
  '//requests',
];

covers(
  ['unknown.404', 'error.shape', 'order.routeFirst'],
  'a route that is not there is 404, whatever is sent to it',
  async () => {
    for (const path of [...UNKNOWN, `/requests/${randomUUID()}/claim`, `/admin/relayers/${randomHex(20)}/x`]) {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const answer = await callApi(target, {
          method,
          path,
          ...(method === 'POST' && { body: '{', contentType: 'text/plain' }),
        });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
      }
    }
  },
);

covers(
  ['known.405', 'order.routeFirst'],
  'a method that a route does not take is 405 with Allow, before key and body',
  async () => {
    for (const { path, methods } of ROUTES) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if ((methods as readonly string[]).includes(method)) continue;
        const withBody = method === 'GET' || method === 'DELETE' ? {} : { body: 'x', contentType: 'text/plain' };
        const answer = await callApi(target, { method, path, ...withBody });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        const allowed = answer.headers.get('allow')?.split(/, */) ?? [];
        expect(allowed).toEqual(expect.arrayContaining([...methods]));
        expect(allowed).not.toContain(method);
      }
    }
  },
);

covers(
  ['preflight.204', 'cors.everyAnswer', 'cors.expose'],
  'a preflight of each route is answered without a key',
  async () => {
    for (const { path, methods } of ROUTES) {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': methods[0],
        'access-control-request-headers': 'content-type, authorization, x-relayer-address, x-admin-key',
      };
      const answer = await callApi(target, { method: 'OPTIONS', path, headers });
      expect([path, answer.status, answer.text]).toEqual([path, 204, '']);
    }
  },
);

covers(
  ['cors.everyAnswer', 'requestIdHeader', 'json.everyAnswer'],
  'CORS, X-Request-Id and JSON stand on answers of every status',
  async () => {
    const calls = [
      [200, { path: '/requests', query: { signer: randomHex(20) } }],
      [400, { path: '/requests' }],
      [401, { path: '/requests', query: { status: 'pending' } }],
      [401, { path: '/admin/relayers' }],
      [401, { method: 'POST', path: '/storage/sign', json: {} }],
      [404, { path: `/requests/${randomUUID()}` }],
      [404, { path: '/nothing' }],
      [405, { method: 'PUT', path: '/requests', body: '' }],
      [415, { method: 'POST', path: '/requests', body: '{}', contentType: 'text/plain' }],
    ] as const;
    const ids = new Set<string | null>();
    for (const [status, call] of calls) {
      // A browser's call gets the same headers as any other.
      for (const headers of [{}, { origin: 'https://app.example' }]) {
        const answer = await callApi(target, { ...call, headers });
        expect([call, answer.status]).toEqual([call, status]);
        expect(Object.fromEntries(answer.headers)).toMatchObject(CORS_OF_SPECIFICATION);
        ids.add(answer.headers.get('x-request-id'));
      }
    }
    expect(ids.size, 'each answer has an id of its own').toBe(2 * calls.length);
  },
);

covers(['cors.everyAnswer'], 'each CORS header stands once', async () => {
  const answer = await sendRaw(target, { method: 'GET', path: '/nothing', headers: { origin: 'https://app.example' } });
  expect(answer.status).toBe(404);
  // Joined with commas if a header stands twice.
  expect(answer.headers).toMatchObject(CORS_OF_SPECIFICATION);
});

covers(['error.code'], 'an error has the code of what was wrong', async () => {
  const calls = [
    [{ path: '/nothing' }, 404, 'ROUTE_NOT_FOUND'],
    [{ path: `/requests/${randomUUID()}` }, 404, 'REQUEST_NOT_FOUND'],
    [{ path: '/requests/42' }, 400, 'VALIDATION_FAILED'],
    [{ path: '/admin/relayers' }, 401, 'ADMIN_KEY_REJECTED'],
    [{ path: '/requests?status=pending' }, 401, 'RELAYER_TIMESTAMP_REJECTED'],
    [{ method: 'POST', path: '/storage/sign', body: '{}' }, 401, 'TOKEN_REJECTED'],
  ] as const;
  for (const [call, status, code] of calls) {
    expect(await callApi(target, call)).toMatchObject({ status, body: { code } });
  }
});

covers(['error.shape'], 'an error says what was wrong in a sentence, and repeats no header', async () => {
  const secret = `secret-${randomHex(8)}`;
  const answer = await callApi(target, { path: '/admin/relayers', headers: { 'x-admin-key': secret } });
  expect(answer.status).toBe(401);
  expect(errorOf(answer)).toMatch(/X-Admin-Key/);
  expect(answer.text).not.toContain(secret);
});

covers(['operations'], 'health, readiness, the OpenAPI document and its page are there', async () => {
  for (const path of ['/health', '/ready']) {
    // On a loaded machine the store may take longer than readiness waits for it.
    await eventually(async () => expect((await callApi(target, { path })).status).toBe(200));
  }
  const document = await callApi(target, { path: '/openapi.json' });
  expect(document.status).toBe(200);
  const { openapi, paths } = document.body as { openapi: string; paths: Record<string, Record<string, unknown>> };
  expect(openapi).toMatch(/^3\.1\./);
  const expected = {
    '/storage/sign': ['post'],
    '/requests': ['get', 'post'],
    '/requests/{requestId}': ['get', 'patch'],
    '/admin/relayers': ['get', 'post'],
    '/admin/relayers/{address}': ['delete'],
  };
  for (const [path, methods] of Object.entries(expected)) {
    expect(Object.keys(paths[path] ?? {})).toEqual(expect.arrayContaining(methods));
  }
  const page = await callApi(target, { path: '/docs', isPlain: true });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
});
