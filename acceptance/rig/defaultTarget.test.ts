import { expect, test } from 'vitest';
import { defaultAdminKey, defaultUrl } from './defaultTarget.ts';

test.each([
  [{}, 'http://127.0.0.1:8787'],
  [{ PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ HOST: '0.0.0.0', PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ HOST: '::' }, 'http://[::1]:8787'],
  [{ PUBLIC_URL: 'https://gateway.example', PORT: '9000' }, 'https://gateway.example'],
])('with %j a gateway answers at %s', (environment, url) => {
  expect(defaultUrl(environment)).toBe(url);
});

test.each([
  [undefined, 'change-me-admin-key'],
  ['', 'change-me-admin-key'],
  ['mine', 'mine'],
  ['new, old', 'new'],
])('of ADMIN_API_KEY=%s the key is %s', (keys, key) => {
  expect(defaultAdminKey({ ADMIN_API_KEY: keys })).toBe(key);
});
