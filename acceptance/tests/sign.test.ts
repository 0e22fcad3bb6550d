import { createHash } from 'node:crypto';
import { signedOperationSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import { makeObject, sign, signOperation } from '../rig/objects.ts';
import { randomHex } from '../rig/randomHex.ts';
import { readTarget } from '../rig/target.ts';
import { shortTokenOf, tokenOf } from '../rig/tokens.ts';

const target = readTarget();
const good = () => ({ projectId: randomHex(16), key: randomHex(32), operation: 'get' });
const OPERATIONS = { put: 'PUT', get: 'GET', head: 'HEAD', delete: 'DELETE' } as const;

covers(
  ['signStorage.200', 'sign.method', 'sign.lifetime', 'times'],
  'each operation is signed: url, method, headers, expiresAt',
  async (context) => {
    const token = await tokenOf(target, context);
    for (const [operation, method] of Object.entries(OPERATIONS)) {
      const before = Date.now() + target.clockAheadMs;
      const answer = await sign(target, { token, json: { ...good(), operation } });
      expect(answer.status, answer.text).toBe(200);
      const signed = signedOperationSchema.parse(answer.body);
      expect(signed.method).toBe(method);
      expect(signed.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
      const lifetimeSeconds = (Date.parse(signed.expiresAt) - before) / 1000;
      // 30 to 300 by its setting; clocks and the way take a little.
      expect(lifetimeSeconds).toBeGreaterThan(25);
      expect(lifetimeSeconds).toBeLessThan(305);
    }
  },
);

covers(['sign.path'], 'the path: tenant, project and key, in lower case', async (context) => {
  const token = await tokenOf(target, context);
  const [projectId, key] = [`0x${'aB'.repeat(16)}`, `0x${'Cd'.repeat(32)}`];
  const paths = new Set<string>();
  for (const operation of Object.keys(OPERATIONS)) {
    for (const json of [
      { projectId, key, operation },
      { projectId: projectId.toLowerCase(), key: key.toLowerCase(), operation },
    ]) {
      const { url } = signedOperationSchema.parse((await sign(target, { token, json })).body);
      const tail = /v1\/[0-9a-f]{64}\/[0-9a-f]{32}\/[0-9a-f]{64}$/.exec(new URL(url).pathname)?.[0];
      expect(tail?.endsWith(`/${projectId.slice(2).toLowerCase()}/${key.slice(2).toLowerCase()}`)).toBe(true);
      paths.add(new URL(url).pathname);
    }
  }
  expect(paths.size).toBe(1);
});

covers(['sign.path', 'sign.tenants'], "the tenant is the SHA-256 of the token's issuer and user", async (context) => {
  const token = await tokenOf(target, context);
  const part = token.split('.')[1];
  const claims = part === undefined ? undefined : JSON.parse(Buffer.from(part, 'base64url').toString());
  if (typeof claims?.sub !== 'string')
    return context.skip('the access token is opaque: its issuer and user are not known here');
  const tenant = createHash('sha256').update(`${claims.iss}|${claims.sub}`).digest('hex');
  const { url } = signedOperationSchema.parse((await sign(target, { token, json: good() })).body);
  expect(new URL(url).pathname).toContain(`/v1/${tenant}/`);
});

covers(['sign.tenants'], 'two users never get the same path', async (context) => {
  const object = makeObject();
  const [one, two] = [await tokenOf(target, context, 0), await tokenOf(target, context, 1)];
  const urls = await Promise.all(
    [one, two, one].map((token) => signOperation(target, { token, operation: 'get', object })),
  );
  const [first, second, again] = urls.map(({ url }) => new URL(url).pathname);
  expect(second).not.toBe(first);
  expect(again).toBe(first);
});

covers(['sign.strict', 'signStorage.400'], 'validation is strict, each fault named', async (context) => {
  const token = await tokenOf(target, context);
  const ask = (json: Record<string, unknown>) => sign(target, { token, json });
  expect(faultPaths(await ask({})).sort()).toEqual(['key', 'operation', 'projectId']);
  for (const projectId of [
    '',
    '0x',
    randomHex(15),
    randomHex(17),
    randomHex(16).slice(2),
    `0x${'g'.repeat(32)}`,
    '../../x',
    null,
    7,
  ]) {
    expect([projectId, ...faultPaths(await ask({ ...good(), projectId }))]).toEqual([projectId, 'projectId']);
  }
  for (const key of [
    '',
    '0x',
    randomHex(31),
    randomHex(33),
    `${randomHex(32)}/x`,
    `0x${'..'.repeat(32)}`,
    null,
    [randomHex(32)],
  ]) {
    expect([key, ...faultPaths(await ask({ ...good(), key }))]).toEqual([key, 'key']);
  }
  for (const operation of ['', 'PUT', 'list', 'post', 'toString', null, ['get']]) {
    expect([operation, ...faultPaths(await ask({ ...good(), operation }))]).toEqual([operation, 'operation']);
  }
});

covers(['sign.strict', 'json.unknownFields'], 'no bucket, path, lifetime or user can be supplied', async (context) => {
  const token = await tokenOf(target, context);
  const foreign = ['bucket', 'path', 'objectPath', 'userId', 'expiresIn', 'headers', '__proto__'];
  for (const name of foreign) {
    const body = JSON.stringify(good()).replace('{', `{"${name}":"x",`);
    const headers = { authorization: `Bearer ${token}` };
    const answer = await callApi(target, { method: 'POST', path: '/storage/sign', headers, body });
    expect([name, ...faultPaths(answer)]).toEqual([name, name]);
  }
  // In the query they are unknown parameters: ignored.
  const headers = { authorization: `Bearer ${token}` };
  const query = 'bucket=x&path=y&userId=z';
  const answer = await callApi(target, { method: 'POST', path: '/storage/sign', query, headers, json: good() });
  expect([answer.status, /bucket=x|path=y|userId=z/.test(answer.text)]).toEqual([200, false]);
});

covers(['sign.token', 'signStorage.401'], 'a missing, malformed or forged token is 401', async (context) => {
  const json = good();
  const post = (headers: Record<string, string>) =>
    callApi(target, { method: 'POST', path: '/storage/sign', headers, json });
  expect((await post({})).status).toBe(401);
  const unsigned = [
    { alg: 'none', typ: 'JWT' },
    { iss: 'x', sub: 'alice', exp: 9e9 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    'Basic eDp5',
    'Bearer a.b.c',
    `Bearer ${unsigned}.`,
    `Bearer ${'x'.repeat(5000)}`,
    'Bearer é',
  ]) {
    const answer = await post({ authorization: Buffer.from(authorization).toString('latin1') });
    expect([authorization.slice(0, 20), answer.status]).toEqual([authorization.slice(0, 20), 401]);
  }
  const token = await tokenOf(target, context);
  const place = token.length - 10;
  const forged = `${token.slice(0, place)}${token[place] === 'A' ? 'B' : 'A'}${token.slice(place + 1)}`;
  for (const authorization of [
    `Bearer ${forged}`,
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -4)}`,
    token,
    `Basic ${token}`,
    `Bearer ${token} ${token}`,
  ]) {
    const answer = await post({ authorization });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain(token.slice(20));
    expect(errorOf(answer).length).toBeGreaterThan(10);
  }
  expect((await post({ authorization: `bearer ${token}` })).status).toBe(200);
});

covers(
  ['sign.tokenExpiry', 'sign.lifetime'],
  'a URL never outlives the token, even where that is under 30 s',
  async (context) => {
    const token = await shortTokenOf(target, context, 20);
    const expiresAt = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).exp;
    const signed = signedOperationSchema.parse((await sign(target, { token, json: good() })).body);
    expect(Date.parse(signed.expiresAt)).toBe(expiresAt * 1000);
  },
);
