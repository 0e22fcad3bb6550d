import { expect, test } from 'vitest';
import { createAdminCheck } from './admin.ts';

const request = (headers: Record<string, string>) => new Request('http://gateway.test/admin/relayers', { headers });
const rejected = (message: string) => expect.objectContaining({ code: 'ADMIN_KEY_REJECTED', status: 401, message });

test('either of two keys is let in, and no other', () => {
  const check = createAdminCheck(['new-key', 'old-key']);
  for (const key of ['new-key', 'old-key']) expect(() => check(request({ 'x-admin-key': key }))).not.toThrow();
  for (const key of ['new-key,old-key', 'new-ke', 'new-keyy', 'NEW-KEY', 'newkey', 'x'.repeat(10_000), '\u00e9']) {
    expect(() => check(request({ 'x-admin-key': key }))).toThrow(rejected('The X-Admin-Key is wrong.'));
  }
});

test('an empty key is wrong, and none is missing', () => {
  const check = createAdminCheck(['key']);
  expect(() => check(request({ 'x-admin-key': '' }))).toThrow(rejected('The X-Admin-Key is wrong.'));
  expect(() => check(request({}))).toThrow(rejected('The X-Admin-Key header is missing.'));
  expect(() => check(request({ authorization: 'Bearer key' }))).toThrow(rejected('The X-Admin-Key header is missing.'));
});
