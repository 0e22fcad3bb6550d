import { expect, test } from 'vitest';
import { ROUTES, type Route } from './routes.ts';

const routes: readonly Route[] = Object.values(ROUTES);

test('the routes are those of the specification, with their access', () => {
  expect(routes.map(({ method, path, access, success }) => `${method} ${path} ${access} ${success}`)).toEqual([
    'POST /storage/sign identity 200',
    'POST /requests public 201',
    'GET /requests public 200',
    'GET /requests/{requestId} public 200',
    'GET /requests/feed relayer 200',
    'PATCH /requests/{requestId} relayer 200',
    'POST /requests/claims relayer 200',
    'POST /requests/reports relayer 200',
    'POST /requests/{requestId}/release relayer 200',
    'POST /admin/relayers admin 201',
    'GET /admin/relayers/{address} admin 200',
    'DELETE /admin/relayers/{address} admin 200',
    'POST /admin/relayers/{address}/suspend admin 200',
    'POST /admin/relayers/{address}/resume admin 200',
    'POST /admin/relayers/{address}/release admin 200',
    'GET /admin/relayers admin 200',
    'GET /admin/requests admin 200',
    'GET /admin/stats admin 200',
    'GET /admin/audit admin 200',
    'GET /admin/service admin 200',
    'POST /admin/requests/{requestId}/release admin 200',
    'POST /admin/requests/{requestId}/fail admin 200',
    'POST /admin/requests/{requestId}/reopen admin 200',
    'DELETE /admin/requests/{requestId} admin 200',
  ]);
});

test('every route may be limited, may fail, and may find its store away', () => {
  for (const { errors } of routes) expect(errors).toEqual(expect.arrayContaining([429, 500, 503]));
});

test('a route that takes a body may find it too large or of another type', () => {
  for (const { takesBody, errors } of routes) {
    expect(errors.includes(413)).toBe(takesBody);
    expect(errors.includes(415)).toBe(takesBody);
    if (takesBody) expect(errors).toContain(400);
  }
});

test('reads, writes, signing, claims and reports are counted apart', () => {
  for (const { method, path, rateLimit, access } of routes) {
    const own = { identity: 'sign', relayer: path.endsWith('/claims') ? 'claims' : 'reports' };
    const counted = method === 'GET' ? 'reads' : 'writes';
    expect(rateLimit).toBe(method !== 'GET' && access in own ? Reflect.get(own, access) : counted);
  }
});
