import { expect, test } from 'vitest';
import { listErrors, ROUTES, type Route } from './routes.ts';

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

test('every route may be limited, may fail, and may find its store away; what it takes and whom it serves add to that', () => {
  const own = { access: 'public', takesBody: false, errors: [400, 404] } as const;
  expect(listErrors(own)).toEqual([400, 404, 429, 500, 503]);
  expect(listErrors({ ...own, access: 'admin', takesBody: true })).toEqual([400, 401, 404, 413, 415, 429, 500, 503]);
});

test('no route names what is common to all of its kind, and whoever takes a body may find it wrong', () => {
  for (const route of routes) {
    const errors = listErrors(route);
    expect(new Set(errors).size).toBe(errors.length);
    if (route.takesBody) expect(errors).toContain(400);
  }
});

test('reads, writes, signing, claims and reports are counted apart', () => {
  for (const { method, path, rateLimit, access } of routes) {
    const own = { identity: 'sign', relayer: path.endsWith('/claims') ? 'claims' : 'reports' };
    const counted = method === 'GET' ? 'reads' : 'writes';
    expect(rateLimit).toBe(method !== 'GET' && access in own ? Reflect.get(own, access) : counted);
  }
});
