import { expect, test } from 'vitest';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import { type CredentialsProvider, createS3Signer } from './createS3Signer.ts';

const keys = { accessKeyId: 'KEY', secretAccessKey: 'SECRET' };
const objectPath = `v1/${'a'.repeat(64)}/${'b'.repeat(32)}/${'c'.repeat(64)}`;
const nowMs = Date.UTC(2026, 0, 31, 23, 59, 59, 750);
const secondMs = Date.UTC(2026, 0, 31, 23, 59, 59);

const signerWith = (credentials: CredentialsProvider) =>
  createS3Signer({ bucket: 'objects', region: 'us-east-1', forcePathStyle: false, credentials });
const get = (at: number) => ({ operation: 'get', objectPath, nowMs: at, lifetimeSeconds: 60 }) as const;

test('the life of a URL begins with the signing second', async () => {
  const signed = await signerWith(async () => keys).sign(get(nowMs));
  expect(new URL(signed.url).searchParams.get('X-Amz-Date')).toBe('20260131T235959Z');
  expect(signed.expiresAtMs).toBe(secondMs + 60_000);
});

// Shows OBJECT-12.
test('a URL never outlives the credentials that signed it', async () => {
  const signer = signerWith(async () => ({ ...keys, expiration: new Date(secondMs + 7_900) }));
  const signed = await signer.sign(get(nowMs));
  expect(new URL(signed.url).searchParams.get('X-Amz-Expires')).toBe('7');
  expect(signed.expiresAtMs).toBe(secondMs + 7_000);
});

test.each([
  ['ended', new Date(secondMs - 1)],
  ['ending within the second', new Date(secondMs + 999)],
  ['of an unreadable end', new Date('soon')],
])('credentials %s sign nothing', async (_, expiration) => {
  const signing = signerWith(async () => ({ ...keys, expiration })).sign(get(nowMs));
  await expect(signing).rejects.toThrow(DependencyUnavailableError);
});

test('failing credentials are a dependency that did not answer', async () => {
  const cause = new Error('no route to host');
  const signing = signerWith(() => Promise.reject(cause)).sign(get(nowMs));
  await expect(signing).rejects.toMatchObject({ dependency: 'object store credentials', cause });
});

test('a new day or new credentials take effect with the next signature', async () => {
  let current: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } = keys;
  const used = signerWith(async () => current);
  const expectAsFresh = async (at: number) => {
    const fresh = await signerWith(async () => current).sign(get(at));
    expect(await used.sign(get(at))).toEqual(fresh);
  };
  await expectAsFresh(nowMs);
  await expectAsFresh(nowMs + 1000);
  current = { ...keys, secretAccessKey: 'ROTATED' };
  await expectAsFresh(nowMs + 1000);
  current = { ...keys, accessKeyId: 'OTHER', sessionToken: 'TOKEN' };
  await expectAsFresh(nowMs + 1000);
  current = { ...keys, accessKeyId: 'OTHER', sessionToken: 'ANOTHER' };
  await expectAsFresh(nowMs + 1000);
});

test('only a put is bound to its content', async () => {
  const signer = signerWith(async () => keys);
  const bound = { ...get(nowMs), contentSha256: '00ff'.repeat(16) };
  expect((await signer.sign(bound)).headers).toEqual({});
  expect((await signer.sign({ ...bound, operation: 'put' })).headers).toEqual({
    'if-none-match': '*',
    'x-amz-checksum-sha256': 'AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8=',
  });
});
