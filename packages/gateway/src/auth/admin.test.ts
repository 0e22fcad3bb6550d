import { expect, test } from 'vitest';
import { createAdminCheck } from './admin.ts';

const request = (headers: Record<string, string>) => new Request('http://gateway.test/admin/relayers', { headers });
const rejected = (message: string) => expect.objectContaining({ code: 'ADMIN_KEY_REJECTED', status: 401, message });

test('either of two keys is let in, and no other', () => {
  const check = createAdminCheck({ adminKeys: ['new-key', 'old-key'], adminReadKeys: [] });
  for (const key of ['new-key', 'old-key']) expect(() => check(request({ 'x-admin-key': key }))).not.toThrow();
  for (const key of ['new-key,old-key', 'new-ke', 'new-keyy', 'NEW-KEY', 'newkey', 'x'.repeat(10_000), '\u00e9']) {
    expect(() => check(request({ 'x-admin-key': key }))).toThrow(rejected('The X-Admin-Key is wrong.'));
  }
});

test('an empty key is wrong, and none is missing', () => {
  const check = createAdminCheck({ adminKeys: ['key'], adminReadKeys: ['reader'] });
  expect(() => check(request({ 'x-admin-key': '' }))).toThrow(rejected('The X-Admin-Key is wrong.'));
  expect(() => check(request({}))).toThrow(rejected('The X-Admin-Key header is missing.'));
  expect(() => check(request({ authorization: 'Bearer key' }))).toThrow(rejected('The X-Admin-Key header is missing.'));
});

test('a key that may only read differs from one that may act', () => {
  const check = createAdminCheck({ adminKeys: ['key'], adminReadKeys: ['reader', 'other-reader'] });
  expect(check(request({ 'x-admin-key': 'key' })).mayAct).toBe(true);
  const [reader, other] = ['reader', 'other-reader'].map((key) => check(request({ 'x-admin-key': key })));
  expect([reader?.mayAct, other?.mayAct]).toEqual([false, false]);
  expect(reader?.keyId).not.toBe(other?.keyId);
});
