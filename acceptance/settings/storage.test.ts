import { signedOperationSchema } from '@prism-gateway/protocol';
import { beforeAll, expect, type TestContext } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import { makeObject, sign, signOperation, useSigned } from '../rig/objects.ts';
import { createRequest, writeBody } from '../rig/requests.ts';
import { startOwn, startShared } from '../rig/startOwn.ts';
import type { Target } from '../rig/target.ts';
import { tokenOf } from '../rig/tokens.ts';

/** Of these settings none touches what the tests of the others look at: they share a gateway. */
let bounded: Target;
beforeAll(async () => {
  const env = {
    MAX_OBJECT_BYTES: '1000',
    MAX_BATCH_SIZE: '2',
    MAX_BODY_BYTES: '2000',
    STORAGE_CORS_ORIGINS: 'https://app.example, http://localhost:3000',
    STORAGE_SIGNED_URL_TTL_SECONDS: '300',
  };
  const { target, stop } = await startShared({ env });
  bounded = target;
  return stop;
});

/** Expects signed URLs to live for some seconds from the second in which they were signed. */
async function expectLifetime(target: Target, { context, seconds }: { context: TestContext; seconds: number }) {
  const token = await tokenOf(target, context);
  const before = Math.floor(Date.now() / 1000);
  const { expiresAt } = await signOperation(target, { token, operation: 'get', object: makeObject() });
  const after = Math.floor(Date.now() / 1000);
  const end = Date.parse(expiresAt) / 1000;
  expect(end).toBeGreaterThanOrEqual(before + seconds);
  expect(end).toBeLessThanOrEqual(after + seconds);
}

covers(
  ['object.unbound', 'sign.lifetimeSetting', 'sign.lifetime'],
  'STORAGE_BIND_CONTENT=false: a put is bound to nothing, and overwrites; its URL lives for the seconds of the setting',
  async (context: TestContext) => {
    const env = { STORAGE_BIND_CONTENT: 'false', STORAGE_SIGNED_URL_TTL_SECONDS: '30' };
    const { target } = await startOwn({ env });
    await expectLifetime(target, { context, seconds: 30 });
    const token = await tokenOf(target, context);
    const object = makeObject();
    const put = await signOperation(target, { token, operation: 'put', object });
    expect(put.headers).toEqual({});
    const other = new TextEncoder().encode('something else');
    for (const body of [object.content, other]) expect((await useSigned(put, { body })).status).toBe(200);
    const get = await useSigned(await signOperation(target, { token, operation: 'get', object }));
    expect(Buffer.from(get.bytes).toString()).toBe('something else');
  },
);

covers(
  ['object.tooLarge', 'object.errors'],
  'an object over MAX_OBJECT_BYTES is 413, and nothing is stored',
  async (context) => {
    const target = bounded;
    const token = await tokenOf(target, context);
    for (const [size, status] of [
      [1000, 200],
      [1001, 413],
      [300_000, 413],
    ] as const) {
      const object = makeObject(size);
      const put = await signOperation(target, { token, operation: 'put', object });
      const answer = await useSigned(put, { body: object.content });
      expect([size, answer.status]).toEqual([size, status]);
      if (status !== 413) continue;
      expect(JSON.parse(Buffer.from(answer.bytes).toString())).toMatchObject({ error: expect.stringMatching(/\w/) });
      const get = await useSigned(await signOperation(target, { token, operation: 'get', object }));
      expect(get.status).toBe(404);
    }
  },
);

covers(
  ['sign.size', 'sign.sizeRequired'],
  'a put is signed for its size, which STORAGE_REQUIRE_SIZE asks for and MAX_OBJECT_BYTES bounds',
  async (context) => {
    const { target } = await startOwn({ env: { STORAGE_REQUIRE_SIZE: 'true', MAX_OBJECT_BYTES: '1000' } });
    const token = await tokenOf(target, context);
    const object = makeObject(1000);
    const { projectId, key } = object;
    const ask = (operation: string, size?: number) =>
      sign(target, { token, json: { projectId, key, operation, ...(size !== undefined && { size }) } });
    const refused = [await ask('put'), await ask('put', 1001), await ask('get', 1000)];
    for (const answer of refused) expect(faultPaths(answer)).toEqual(['size']);
    const put = async (size: number, length = size) => {
      const signed = signedOperationSchema.parse((await ask('put', size)).body);
      expect(signed.headers['content-length']).toBe(String(size));
      const headers = { ...signed.headers, 'content-length': String(length) };
      return (await useSigned({ ...signed, headers }, { body: object.content })).status;
    };
    expect(await put(999, 1000)).toBe(403);
    expect(await put(1000)).toBe(200);
    expect((await ask('get')).status).toBe(200);
  },
);

covers(
  ['object.cors'],
  'STORAGE_CORS_ORIGINS: only these origins may read local objects; the API stays open to all',
  async (context) => {
    const target = bounded;
    const token = await tokenOf(target, context);
    const signed = await signOperation(target, { token, operation: 'get', object: makeObject() });
    const allowedFor = async (origin: string, method: string) => {
      const headers = { origin, 'access-control-request-method': 'GET' };
      return (await useSigned(signed, { method, headers })).headers.get('access-control-allow-origin');
    };
    for (const origin of ['https://app.example', 'http://localhost:3000']) {
      expect([await allowedFor(origin, 'GET'), await allowedFor(origin, 'OPTIONS')]).toEqual([origin, origin]);
    }
    for (const origin of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null']) {
      expect([origin, await allowedFor(origin, 'GET'), await allowedFor(origin, 'OPTIONS')]).toEqual([
        origin,
        null,
        null,
      ]);
    }
    const api = await callApi(target, { path: '/requests', headers: { origin: 'https://evil.example' } });
    expect(api.headers.get('access-control-allow-origin')).toBe('*');
  },
);

covers(
  ['sign.lifetimeSetting', 'sign.lifetime'],
  'STORAGE_SIGNED_URL_TTL_SECONDS is the lifetime, counted from the signing second',
  async (context) => await expectLifetime(bounded, { context, seconds: 300 }),
);

covers(
  ['settings.batch', 'format.batch', 'body.atLimit'],
  'MAX_BATCH_SIZE and MAX_BODY_BYTES are what is set',
  async () => {
    const target = bounded;
    const { payload: _p, dataId: _d, ...params } = writeBody(target).params as Record<string, unknown>;
    const batch = (count: number) => ({
      ...writeBody(target),
      action: 'BATCH_DELETE_DATA_FOR',
      params: { ...params, dataIds: Array.from({ length: count }, () => '0x01') },
    });
    expect((await createRequest(target, batch(2))).status).toBe('pending');
    const refused = await callApi(target, { method: 'POST', path: '/requests', json: batch(3) });
    expect(faultPaths(refused)).toEqual(['params.dataIds']);
    const body = JSON.stringify(writeBody(target));
    const send = (size: number) => callApi(target, { method: 'POST', path: '/requests', body: body.padEnd(size) });
    expect([(await send(2000)).status, (await send(2001)).status]).toEqual([201, 413]);
  },
);
