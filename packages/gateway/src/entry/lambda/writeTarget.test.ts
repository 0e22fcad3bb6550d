import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeTarget } from './writeTarget.ts';

const base = 'http://function';

it.each([
  ['/requests', '', '/requests'],
  ['/requests', 'limit=1&limit=%32', '/requests?limit=1&limit=%32'],
  ['/requests/a%2Fb', '', '/requests/a%2Fb'],
  ['/a/../health', '', '/health'],
  ['/%2e%2e/health', '', '/health'],
  ['//requests', '', '//requests'],
])('keeps the encoded path %s', (path, query, target) => {
  expect(writeTarget(path, query)).toBe(base + target);
});

it.each([
  ['/requests/a b', '/requests/a%20b'],
  ['/requests/€', '/requests/%E2%82%AC'],
  ['/requests/50%', '/requests/50%25'],
  ['/requests/a?b', '/requests/a%3Fb'],
  ['/requests/a#b', '/requests/a%23b'],
  ['/requests/a\\b', '/requests/a%5Cb'],
  ['/hea\nlth', '/hea%0Alth'],
  ['/hea\r\tlth', '/hea%0D%09lth'],
  ['/requests/"<>^`{}', '/requests/%22%3C%3E%5E%60%7B%7D'],
])('encodes the decoded path %s again', (path, target) => {
  expect(writeTarget(path, 'a=b')).toBe(`${base}${target}?a=b`);
});

it('writes a URL of its own host for any path and query', () => {
  const parts = [
    '/',
    '//',
    '..',
    '.',
    '?',
    '#',
    '%',
    '%2e',
    '%2f',
    '\\',
    '@',
    ':',
    'a',
    'é',
    '€',
    '\u0000',
    '\ud800',
    ' ',
    '\n',
  ];
  const text = fc.array(fc.constantFrom(...parts)).map((list) => list.join(''));
  fc.assert(
    fc.property(text, text, (path, query) => {
      const url = new URL(writeTarget(`/${path}`, query));
      expect(url.host).toBe('function');
      expect(url.hash === '' || query.includes('#')).toBe(true);
    }),
  );
});
