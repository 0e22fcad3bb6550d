import { expect, it } from 'vitest';
import { createOriginGuard } from './createOriginGuard.ts';

const [first, second] = ['a'.repeat(48), 'b'.repeat(48)] as const;
const header = (value: string, name = 'X-Origin-Secret') => [[name, value] as const];

it('lets everybody in where there is no edge', () => {
  expect(createOriginGuard([])([])).toBeUndefined();
});

it.each([
  ['the secret', header(first)],
  ['the one that follows it', header(second, 'x-origin-secret')],
  ['both, as they are kept meanwhile', header(`${second},${first}`)],
])('lets in whoever has %s', (_, headers) => {
  expect(createOriginGuard([first, second])([['accept', '*/*'], ...headers])).toBeUndefined();
});

it.each([
  ['nothing', []],
  ['another', header('c'.repeat(48))],
  ['an empty one', header('')],
  ['a part of it', header(first.slice(1))],
  ['it twice', [...header(first), ...header(first)]],
])('refuses whoever has %s, in the shape of the API, with CORS', (_, headers) => {
  expect(createOriginGuard([first])(headers)).toMatchObject({
    statusCode: 403,
    headers: { 'access-control-allow-origin': '*' },
    body: expect.stringMatching(/^\{"error":"/),
  });
});
