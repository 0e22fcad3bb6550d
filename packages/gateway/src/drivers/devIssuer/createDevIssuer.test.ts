import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, type FakeClock } from '@prism-gateway/testing';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDevIssuer, type DevIssuer } from './createDevIssuer.ts';

const base = 'http://127.0.0.1:8787/dev/identity';
const appId = 'dev app';
const appSecret = 'not-a-secret: +%&é';
const JSON_TYPE = { 'content-type': 'application/json' };

let directory: string;
let clock: FakeClock;
let devIssuer: DevIssuer;
const create = () => createDevIssuer({ issuer: base, appId, appSecret, directory, now: clock.now });
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'dev-issuer-')), 'identity');
  clock = createFakeClock();
  devIssuer = create();
});
afterEach(() => rm(join(directory, '..'), { recursive: true }));

const call = (path: string, init?: RequestInit) => devIssuer.fetch(new Request(`${base}${path}`, init));
const postJson = (path: string, body: string | Buffer) => call(path, { method: 'POST', headers: JSON_TYPE, body });
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
const postForm = (path: string, form: Record<string, string>, authorization?: string) =>
  call(path, {
    method: 'POST',
    body: new URLSearchParams(form),
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  });
async function getToken(body: object = { sub: 'alice' }): Promise<string> {
  const answer = (await (await postJson('/token', JSON.stringify(body))).json()) as { access_token: string };
  return answer.access_token;
}
const introspect = async (token: string) =>
  (await postForm('/introspect', { token }, basic(appId, appSecret))).json() as Promise<Record<string, unknown>>;

describe('discovery and keys', () => {
  test('the document names the endpoints', async () => {
    const response = await call('/.well-known/openid-configuration');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      issuer: base,
      jwks_uri: `${base}/jwks`,
      token_endpoint: `${base}/token`,
      introspection_endpoint: `${base}/introspect`,
      revocation_endpoint: `${base}/revoke`,
    });
  });

  test('the key set verifies the tokens and shows nothing private', async () => {
    const jwks = (await (await call('/jwks')).json()) as JSONWebKeySet;
    expect(Object.keys(jwks.keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const options = { issuer: base, audience: appId, currentDate: new Date(clock.now()), algorithms: ['ES256'] };
    const { payload } = await jwtVerify(await getToken(), createLocalJWKSet(jwks), options);
    const iat = clock.now() / 1000;
    expect(payload).toMatchObject({ sub: 'alice', client_id: appId, iat, exp: iat + 3600 });
    expect(payload.jti).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('POST /token', () => {
  test('answers as OAuth does', async () => {
    const response = await postJson('/token', '{"sub":"alice","expiresIn":60}');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const answer = (await response.json()) as { access_token: string };
    expect(answer).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 60 });
    expect(decodeJwt(answer.access_token).exp).toBe(clock.now() / 1000 + 60);
  });

  test.each([
    ['{}', ['sub']],
    ['{"sub":""}', ['sub']],
    ['{"sub":7}', ['sub']],
    ['{"sub":"\\ud800"}', ['sub']],
    [`{"sub":"${'a'.repeat(256)}"}`, ['sub']],
    ['{"sub":"a","expiresIn":0}', ['expiresIn']],
    ['{"sub":"a","expiresIn":86401}', ['expiresIn']],
    ['{"sub":"a","expiresIn":1.5}', ['expiresIn']],
    ['{"sub":"a","expiresIn":"60"}', ['expiresIn']],
    ['{"sub":"a","role":"admin","__proto__":{}}', ['role', '__proto__']],
    ['[]', ['body']],
    ['null', ['body']],
  ])('%s is 400 and says where', async (body, paths) => {
    const response = await postJson('/token', body);
    const answer = (await response.json()) as { error: string; details: { path: string }[] };
    expect([response.status, answer.details.map(({ path }) => path)]).toEqual([400, paths]);
    expect(answer.error).toEqual(expect.any(String));
  });
});

describe('POST /introspect', () => {
  test('a good token is active', async () => {
    const token = await getToken();
    const answer = { active: true, iss: base, aud: appId, sub: 'alice', client_id: appId, token_type: 'Bearer' };
    expect(await introspect(token)).toMatchObject(answer);
  });

  test('it is inactive soon after its end', async () => {
    const token = await getToken({ sub: 'a', expiresIn: 10 });
    clock.advance(14_999);
    expect(await introspect(token)).toMatchObject({ active: true });
    clock.advance(1);
    expect(await introspect(token)).toEqual({ active: false });
  });

  test('what it has not signed is inactive', async () => {
    const [header, , signature] = (await getToken()).split('.');
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(await getToken()), sub: 'root' })).toString('base64url');
    expect(await introspect(`${header}.${claims}.${signature}`)).toEqual({ active: false });
    expect(await introspect('opaque')).toEqual({ active: false });
  });

  test.each([
    ['none', undefined],
    ['a wrong secret', basic(appId, 'wrong')],
    ['a wrong id', basic('wrong', appSecret)],
    ['empty ones', basic('', '')],
    ['not Basic', 'Bearer x'],
    ['broken base64', 'Basic %%%'],
    ['broken encoding', `Basic ${Buffer.from('%:%').toString('base64')}`],
  ])('credentials: %s: 401', async (_, authorization) => {
    const response = await postForm('/introspect', { token: await getToken() }, authorization);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic/)]);
  });
});

describe('POST /revoke', () => {
  test('ends one token and no other', async () => {
    const [token, other] = [await getToken(), await getToken()];
    expect((await postForm('/revoke', { token })).status).toBe(200);
    expect(await introspect(token)).toEqual({ active: false });
    expect(await introspect(other)).toMatchObject({ active: true });
  });

  test('again, unknown, expired or foreign: 200 and nothing kept', async () => {
    const token = await getToken({ sub: 'a', expiresIn: 1 });
    await postForm('/revoke', { token });
    expect((await postForm('/revoke', { token })).status).toBe(200);
    const expired = await getToken({ sub: 'a', expiresIn: 1 });
    clock.advance(6_000);
    for (const unknown of ['nonsense', '../../etc/passwd', expired]) {
      expect((await postForm('/revoke', { token: unknown })).status).toBe(200);
    }
    expect(await readdir(join(directory, 'revoked'))).toHaveLength(1);
  });

  test('credentials are not needed, but wrong ones are refused', async () => {
    const token = await getToken();
    expect((await postForm('/revoke', { token }, basic(appId, 'wrong'))).status).toBe(401);
    expect(await introspect(token)).toMatchObject({ active: true });
    expect((await postForm('/revoke', { token }, basic(appId, appSecret))).status).toBe(200);
    expect(await introspect(token)).toEqual({ active: false });
  });
});

describe('routes', () => {
  test('a base path that a proxy takes off', async () => {
    const options = { appId, appSecret, directory, now: clock.now };
    const behindProxy = createDevIssuer({ ...options, issuer: 'https://api.example/base/dev/identity' });
    for (const [path, status] of [
      ['/dev/identity/jwks', 200],
      ['/base/dev/identity/jwks', 200],
      ['/other/dev/identity/jwks', 404],
      ['/y/jwks', 404],
    ] as const) {
      expect((await behindProxy.fetch(new Request(`http://127.0.0.1${path}`))).status, path).toBe(status);
    }
  });
});

describe('what is kept', () => {
  // Shows TOKEN-8.
  test('a restart keeps key and revocations', async () => {
    const [good, revoked] = [await getToken(), await getToken()];
    await postForm('/revoke', { token: revoked });
    devIssuer = create();
    expect(await introspect(good)).toMatchObject({ active: true });
    expect(await introspect(revoked)).toEqual({ active: false });
  });

  test('two on one directory are one issuer, from the first moment', async () => {
    const two = [create(), create()];
    const tokens = await Promise.all(
      two.map(async (instance) => {
        devIssuer = instance;
        return getToken();
      }),
    );
    for (const instance of two) {
      devIssuer = instance;
      for (const token of tokens) expect(await introspect(token)).toMatchObject({ active: true });
    }
    await postForm('/revoke', { token: tokens[0] ?? '' });
    devIssuer = create();
    expect(await introspect(tokens[0] ?? '')).toEqual({ active: false });
  });

  test('a directory that cannot be made is an error, not an answer, and not for ever', async () => {
    await writeFile(directory, 'in the way');
    await expect(call('/jwks')).rejects.toMatchObject({ code: expect.stringMatching(/ENOTDIR|EEXIST/) });
    await rm(directory);
    expect((await call('/jwks')).status).toBe(200);
  });
});
