import { expect, test } from 'vitest';
import { requireSecureUrl } from './requireSecureUrl.ts';

test.each([
  'https://id.example/x',
  'http://localhost:3000/',
  'http://app.localhost/',
  'http://127.0.0.1:1/x',
  'http://127.9.9.9/',
  'http://2130706433/',
  'http://[::1]:8080/',
])('%s is secure enough', (url) => {
  expect(requireSecureUrl(url, { allowInsecureHttp: false }).href).toBe(new URL(url).href);
});

test.each([
  'http://id.example/',
  'https://user:password@id.example/',
  'http://localhost.example/',
  'http://127.0.0.1.example/',
  'http://128.0.0.1/',
  'http://[::2]/',
  'ftp://id.example/',
  'file:///etc/passwd',
  '/keys',
  '',
])('%s is not', (url) => {
  expect(() => requireSecureUrl(url, { allowInsecureHttp: false })).toThrow(TypeError);
});

test('development allows plain http, and only that', () => {
  expect(requireSecureUrl('http://id.example/', { allowInsecureHttp: true }).host).toBe('id.example');
  expect(() => requireSecureUrl('file:///etc/passwd', { allowInsecureHttp: true })).toThrow(TypeError);
});
