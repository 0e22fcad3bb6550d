import { errorBodySchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { createRequest, writeBody } from '../rig/requests.ts';
import { sendRaw } from '../rig/sendRaw.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const ROUTES = [
  ['POST', '/requests'],
  ['PATCH', `/requests/${crypto.randomUUID()}`],
  ['POST', '/admin/relayers'],
  ['POST', '/storage/sign'],
] as const;

/** A good body of exactly `size` bytes. */
function bodyOfSize(size: number): string {
  const body = JSON.stringify(writeBody(target));
  return body.replace('{', `{${' '.repeat(size - body.length)}`);
}

covers(
  ['body.contentLength', 'createRequest.413', 'updateRequest.413', 'addRelayer.413', 'signStorage.413'],
  'a body over the limit is 413 by its content-length, on each route that takes one',
  async () => {
    const body = bodyOfSize(target.maxBodyBytes + 1);
    for (const [method, path] of ROUTES) {
      expect([path, (await callApi(target, { method, path, body })).status]).toEqual([path, 413]);
    }
  },
);

covers(['body.chunked'], 'a body over the limit is 413 where it comes in chunks', async () => {
  const body = new TextEncoder().encode(bodyOfSize(target.maxBodyBytes + 1));
  for (const [method, path] of ROUTES) {
    const headers = { 'content-type': 'application/json' };
    const answer = await sendRaw(target, { method, path, headers, body, isChunked: true });
    // Without a key or token nobody's body is read; behind a function it has come in already.
    const isGuarded = path === '/admin/relayers' || path === '/storage/sign';
    expect(isGuarded ? [401, 413] : [413], path).toContain(answer.status);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(errorBodySchema.parse(JSON.parse(answer.text)).error).toMatch(/\w/);
  }
});

covers(['body.chunked'], 'a small body in chunks is taken', async () => {
  const body = new TextEncoder().encode(JSON.stringify(writeBody(target)));
  const headers = { 'content-type': 'application/json' };
  expect((await sendRaw(target, { method: 'POST', path: '/requests', headers, body, isChunked: true })).status).toBe(
    201,
  );
});

covers(['body.atLimit'], 'a body of exactly the limit is taken, and its payload comes back whole', async () => {
  const answer = await callApi(target, { method: 'POST', path: '/requests', body: bodyOfSize(target.maxBodyBytes) });
  expect(answer.status, answer.text.slice(0, 300)).toBe(201);
  const room = target.maxBodyBytes - JSON.stringify(writeBody(target)).length;
  const payload = `0x${'5a'.repeat(Math.floor(room / 2))}`;
  const record = await createRequest(target, writeBody(target, { params: { payload } }));
  expect(record.params).toMatchObject({ payload });
});
