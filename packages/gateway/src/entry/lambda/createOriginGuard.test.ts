import { expect, it } from 'vitest';
import { createOriginGuard } from './createOriginGuard.ts';

const [first, second] = ['a'.repeat(48), 'b'.repeat(48)] as const;
const PEER = '192.0.2.1';
const call = (headers: readonly (readonly [string, string])[], path = '/requests', method = 'GET') => ({
  ...{ method, path, headers },
  peerAddress: PEER,
});
const header = (value: string, name = 'X-Origin-Secret') => [[name, value] as const];

it('lets everybody in where there is no edge', () => {
  expect(createOriginGuard([])(call(header('1.2.3.4', 'X-Viewer-Address')))).toEqual({ peerAddress: PEER });
});

it.each([
  ['the secret', header(first)],
  ['the one that follows it', header(second, 'x-origin-secret')],
  ['both, as they are kept meanwhile', header(`${second},${first}`)],
])('lets in whoever has %s', (_, headers) => {
  expect(createOriginGuard([first, second])(call([['accept', '*/*'], ...headers]))).toEqual({ peerAddress: PEER });
});

// Shows AWS-5.
it('takes from the edge alone who calls it', () => {
  const reported = header('203.0.113.7', 'x-viewer-address');
  expect(createOriginGuard([first])(call([...header(first), ...reported]))).toEqual({ peerAddress: '203.0.113.7' });
  expect(createOriginGuard([first])(call(reported))).toHaveProperty('refusal');
});

it.each([
  ['nothing', []],
  ['another', header('c'.repeat(48))],
  ['an empty one', header('')],
  ['a part of it', header(first.slice(1))],
  ['it twice', [...header(first), ...header(first)]],
])('refuses whoever has %s, in the shape of the API, with CORS', (_, headers) => {
  expect(createOriginGuard([first])(call(headers))).toMatchObject({
    refusal: {
      statusCode: 403,
      headers: { 'access-control-allow-origin': '*' },
      body: expect.stringMatching(/^\{"error":"/),
    },
  });
});

// Shows AWS-7.
it('lets the feed be read past the edge, by the address that Lambda saw, and nothing else', () => {
  const guard = createOriginGuard([first]);
  const forged = header('8.8.8.8', 'x-viewer-address');
  expect(guard(call(forged, '/requests/feed'))).toEqual({ peerAddress: PEER });
  expect(guard(call([], '/requests/feed', 'POST'))).toHaveProperty('refusal');
  expect(guard(call([], '/requests/feed/'))).toHaveProperty('refusal');
  expect(guard(call(header('wrong'), '/requests/feed'))).toHaveProperty('refusal');
});
