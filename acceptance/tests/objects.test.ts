import { createHash } from 'node:crypto';
import { errorBodySchema } from '@prism-gateway/protocol';
import { expect, type TestContext } from 'vitest';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { isLocal, makeObject, type ObjectAnswer, signOperation, type TestObject, useSigned } from '../rig/objects.ts';
import { readTarget } from '../rig/target.ts';
import { shortTokenOf, tokenOf } from '../rig/tokens.ts';

const target = readTarget();

type Operation = 'put' | 'get' | 'head' | 'delete';

/** Signs and uses operations of one user on one object, which is deleted when the test ends. */
async function openObject(context: TestContext, object: TestObject = makeObject()) {
  const token = await tokenOf(target, context);
  const signFor = (operation: Operation) => signOperation(target, { token, operation, object });
  const use = async (operation: Operation) => {
    const signed = await signFor(operation);
    return await useSigned(signed, operation === 'put' ? { body: object.content } : {});
  };
  context.onTestFinished(async () => void (await use('delete')));
  return { token, object, signFor, use };
}

/** 404, or, from a bucket that does not let its names be listed, 403. */
function expectMissing(answer: ObjectAnswer, isLocalObject: boolean): void {
  expect(isLocalObject ? [404] : [403, 404]).toContain(answer.status);
}

covers(
  ['object.roundTrip', 'object.download', 'object.missing', 'signStorage.200'],
  'put, head, get, delete: what was stored is read back, and then gone',
  async (context) => {
    const { object, use, signFor } = await openObject(context);
    const local = isLocal(target, await signFor('get'));
    expectMissing(await use('get'), local);
    expectMissing(await use('head'), local);
    const put = await use('put');
    expect([put.status, put.bytes.length]).toEqual([200, 0]);
    const head = await use('head');
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, '64', 0]);
    const get = await use('get');
    expect([get.status, Buffer.from(get.bytes).toString('hex')]).toEqual([
      200,
      Buffer.from(object.content).toString('hex'),
    ]);
    expect(get.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(get.headers.get('content-type')).toBe('application/octet-stream');
    expect((await use('delete')).status).toBe(204);
    expectMissing(await use('get'), local);
    expectMissing(await use('head'), local);
    expect((await use('delete')).status).toBe(204);
  },
);

covers(
  ['object.bound'],
  'a put is bound to its content: checksum and if-none-match, signed and in headers',
  async (context) => {
    const { object, signFor } = await openObject(context);
    const { headers, url } = await signFor('put');
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(lower).toMatchObject({
      'x-amz-checksum-sha256': createHash('sha256').update(object.content).digest('base64'),
      'if-none-match': '*',
    });
    expect(decodeURIComponent(url)).toMatch(/if-none-match/i);
    expect(decodeURIComponent(url)).toMatch(/x-amz-checksum-sha256/i);
  },
);

covers(['object.once'], 'a second put is 412, with the same URL or a new one, and changes nothing', async (context) => {
  const { object, use, signFor } = await openObject(context);
  const signed = await signFor('put');
  expect((await useSigned(signed, { body: object.content })).status).toBe(200);
  expect((await useSigned(signed, { body: object.content })).status).toBe(412);
  expect((await use('put')).status).toBe(412);
  expect(Buffer.from((await use('get')).bytes)).toEqual(Buffer.from(object.content));
  await use('delete');
  expect((await use('put')).status).toBe(200);
});

covers(['object.mismatch'], 'content that does not hash to the key is 400, and nothing is stored', async (context) => {
  const { object, use, signFor } = await openObject(context);
  const other = new Uint8Array(object.content);
  other[0] = (other[0] ?? 0) ^ 1;
  for (const body of [other, object.content.slice(0, -1), new Uint8Array([...object.content, 0])]) {
    const signed = await signFor('put');
    expect((await useSigned(signed, { body })).status).toBe(400);
    expectMissing(await use('get'), isLocal(target, signed));
  }
  expect((await use('put')).status).toBe(200);
});

covers(['object.signedHeaders'], 'a put without its signed headers, or with others, is 403', async (context) => {
  const { object, use, signFor } = await openObject(context);
  const signed = await signFor('put');
  const entries = Object.entries(signed.headers);
  const otherSum = createHash('sha256').update('other').digest('base64');
  const changed = [
    {},
    ...entries.map(([left]) => Object.fromEntries(entries.filter(([name]) => name !== left))),
    Object.fromEntries(entries.map(([name, value]) => [name, /checksum/i.test(name) ? otherSum : value])),
    Object.fromEntries(entries.map(([name, value]) => [name, /none-match/i.test(name) ? '"x"' : value])),
  ];
  for (const headers of changed) {
    const answer = await useSigned(signed, { body: object.content, headers });
    expect([headers, answer.status]).toEqual([headers, 403]);
  }
  expectMissing(await use('get'), isLocal(target, signed));
});

covers(['object.wrongMethod'], 'a URL is good for its own method alone', async (context) => {
  const { object, use, signFor } = await openObject(context);
  expect((await use('put')).status).toBe(200);
  const methods = { put: 'PUT', get: 'GET', head: 'HEAD', delete: 'DELETE' } as const;
  for (const operation of Object.keys(methods) as Operation[]) {
    const signed = await signFor(operation);
    for (const method of Object.values(methods).filter((other) => other !== signed.method)) {
      const body = method === 'PUT' ? { body: object.content } : {};
      const answer = await useSigned(signed, { method, ...body });
      expect([operation, method, answer.status]).toEqual([operation, method, 403]);
    }
  }
  expect((await use('get')).status).toBe(200);
});

covers(['object.altered', 'object.errors'], 'an altered URL is 403', async (context) => {
  const { use, signFor } = await openObject(context);
  const another = await openObject(context);
  await use('put');
  await another.use('put');
  const signed = await signFor('get');
  const url = new URL(signed.url);
  const withParameter = (change: (query: URLSearchParams) => void) => {
    const copy = new URL(url);
    change(copy.searchParams);
    return copy.href;
  };
  const altered = [
    // The other object's path with this one's signature.
    `${(await another.signFor('get')).url.split('?')[0]}${url.search}`,
    ...[...url.searchParams.keys()].map((name) => withParameter((query) => query.delete(name))),
    ...[...url.searchParams].map(([name, value]) =>
      withParameter((query) =>
        query.set(
          name,
          value.replace(/.$/, (last) => (last === '1' ? '2' : '1')),
        ),
      ),
    ),
    `${url.origin}${url.pathname}`,
  ];
  for (const href of altered) {
    const answer = await useSigned(signed, { url: href });
    // S3 answers a query that is no presigned one at all with 400.
    expect(isLocal(target, signed) ? [403] : [400, 403], href.replace(/signature=.*/i, '')).toContain(answer.status);
    if (isLocal(target, signed)) {
      expect(errorBodySchema.parse(JSON.parse(Buffer.from(answer.bytes).toString())).error).toMatch(/\w/);
    }
  }
  expect((await useSigned(signed)).status).toBe(200);
});

covers(
  ['sign.tenants', 'object.missing'],
  "a user does not reach another's object under the same project and key",
  async (context) => {
    const { object, use } = await openObject(context);
    const token = await tokenOf(target, context, 1);
    expect((await use('put')).status).toBe(200);
    const foreign = await signOperation(target, { token, operation: 'get', object });
    expectMissing(await useSigned(foreign), isLocal(target, foreign));
    await useSigned(await signOperation(target, { token, operation: 'delete', object }));
    expect((await use('get')).status).toBe(200);
  },
);

covers(['object.largerThanBody'], 'MAX_BODY_BYTES does not apply to objects', async (context) => {
  const object = makeObject(target.maxBodyBytes * 2 + 1);
  const { use } = await openObject(context, object);
  expect((await use('put')).status).toBe(200);
  expect(Buffer.from((await use('get')).bytes).equals(Buffer.from(object.content))).toBe(true);
});

covers(['object.empty'], 'an object of no bytes is stored and read', async (context) => {
  const { use } = await openObject(context, makeObject(0));
  expect((await use('put')).status).toBe(200);
  const get = await use('get');
  expect([get.status, get.bytes.length, get.headers.get('content-length')]).toEqual([200, 0, '0']);
});

covers(['object.once'], 'of ten puts at once one stores, and none is torn', async (context) => {
  const object = makeObject(50_000);
  const { use, signFor } = await openObject(context, object);
  const signed = await signFor('put');
  const answers = await Promise.all(Array.from({ length: 10 }, () => useSigned(signed, { body: object.content })));
  const statuses = answers.map(({ status }) => status).sort();
  // While another put is under way, a rival is 409.
  expect(statuses[0]).toBe(200);
  expect(statuses.slice(1).filter((status) => status !== 412 && status !== 409)).toEqual([]);
  expect(Buffer.from((await use('get')).bytes).equals(Buffer.from(object.content))).toBe(true);
});

covers(['object.expired', 'sign.tokenExpiry'], 'an expired URL is 403', async (context) => {
  const token = await shortTokenOf(target, context, 3);
  const { object, use } = await openObject(context);
  await use('put');
  const signed = await signOperation(target, { token, operation: 'get', object });
  await eventually(async () => expect((await useSigned(signed)).status).toBe(403), 8000);
  expect(Date.now() + target.clockAheadMs).toBeGreaterThanOrEqual(Date.parse(signed.expiresAt) - 2500);
});

covers(
  ['object.cors', 'object.errors'],
  "local objects follow the bucket's CORS policy, errors included",
  async (context) => {
    const { use, signFor } = await openObject(context);
    const signed = await signFor('get');
    if (!isLocal(target, signed)) return context.skip('objects are in a bucket, which has a CORS policy of its own');
    const asked = {
      origin: 'https://app.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'if-none-match,x-amz-checksum-sha256',
    };
    const preflight = await useSigned(signed, { method: 'OPTIONS', headers: asked });
    expect([200, 204]).toContain(preflight.status);
    await use('put');
    const found = await useSigned(signed, { headers: { origin: 'https://app.example' } });
    const refused = await useSigned(signed, {
      url: signed.url.split('?')[0] ?? '',
      headers: { origin: 'https://app.example' },
    });
    expect([found.status, refused.status]).toEqual([200, 403]);
    for (const { headers } of [preflight, found, refused]) {
      expect(headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/app\.example)$/);
      expect(headers.get('access-control-allow-methods')?.split(/, */).sort()).toEqual([
        'DELETE',
        'GET',
        'HEAD',
        'PUT',
      ]);
      expect(headers.get('x-request-id')).toMatch(/./);
    }
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/\*|if-none-match.*x-amz-checksum-sha256/);
  },
);
