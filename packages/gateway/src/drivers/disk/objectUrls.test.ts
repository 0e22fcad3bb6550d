import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignedOperation } from '../../ports/objectSigner.ts';
import { createUrlSeal } from './createUrlSeal.ts';
import { type DiskRig, newPath, SIGNING_KEY, send, startDiskObjects } from './startDiskObjects.rig.ts';

const content = Buffer.from('content');

let rig: DiskRig;
let path: string;
beforeAll(async () => {
  rig = await startDiskObjects();
  path = newPath(content);
  await rig.put(path, content);
});
afterAll(() => rig.close());

const altered = (order: SignedOperation, change: (url: URL) => void): SignedOperation => {
  const url = new URL(order.url);
  change(url);
  return { ...order, url: url.href };
};

test.each<[string, (order: SignedOperation) => SignedOperation]>([
  ['another method', (get) => ({ ...get, method: 'DELETE' })],
  ['HEAD with the URL of a GET', (get) => ({ ...get, method: 'HEAD' })],
  [
    'another method in the URL',
    (get) => altered({ ...get, method: 'DELETE' }, (url) => url.searchParams.set('method', 'DELETE')),
  ],
  [
    'another path',
    (get) =>
      altered(get, (url) => {
        url.pathname = `/objects/${newPath(content)}`;
      }),
  ],
  [
    'a path of upper-case hex',
    (get) =>
      altered(get, (url) => {
        url.pathname = url.pathname.replace(/[a-f]/, (hex) => hex.toUpperCase());
      }),
  ],
  [
    'a longer path',
    (get) =>
      altered(get, (url) => {
        url.pathname += '/x';
      }),
  ],
  ['an encoded path', (get) => ({ ...get, url: get.url.replace('/v1/', '/%761/') })],
  ['a longer life', (get) => altered(get, (url) => url.searchParams.set('expires', '9999999999'))],
  ['no end', (get) => altered(get, (url) => url.searchParams.delete('expires'))],
  ['an unknown parameter', (get) => altered(get, (url) => url.searchParams.set('versionId', '1'))],
  ['a parameter twice', (get) => altered(get, (url) => url.searchParams.append('method', 'GET'))],
  [
    'signed headers added',
    (get) => altered(get, (url) => url.searchParams.set('headers', 'if-none-match.x-amz-checksum-sha256')),
  ],
  ['an empty signature', (get) => altered(get, (url) => url.searchParams.set('signature', ''))],
  ['no signature', (get) => altered(get, (url) => url.searchParams.delete('signature'))],
  [
    'no query',
    (get) =>
      altered(get, (url) => {
        url.search = '';
      }),
  ],
])('%s is refused', async (_, alter) => {
  const refused = await send(alter(await rig.sign('get', path)));
  expect(refused.status).toBe(403);
});

test('a signature with another key is refused', async () => {
  const url = new URL((await rig.sign('get', path)).url);
  const seal = createUrlSeal(new Uint8Array(32).fill(8));
  const expiresSeconds = Number(url.searchParams.get('expires'));
  url.search = seal.seal({ method: 'GET', objectPath: path, expiresSeconds });
  expect((await fetch(url)).status).toBe(403);
});

test('a change of any one character of the query is refused', async () => {
  const { url } = await rig.sign('get', path);
  const seal = createUrlSeal(SIGNING_KEY);
  expect(seal.open(new Request(url)).objectPath).toBe(path);

  const start = url.indexOf('?') + 1;
  const change = fc.tuple(fc.integer({ min: start, max: url.length - 1 }), fc.constantFrom(...'09azAZ-_=&.%*'));
  fc.assert(
    fc.property(change, ([at, char]) => {
      fc.pre(url[at] !== char);
      const changed = url.slice(0, at) + char + url.slice(at + 1);
      expect(() => seal.open(new Request(changed))).toThrow();
    }),
    { numRuns: 1000 },
  );
});

test.each(['if-none-match', 'x-amz-checksum-sha256'])(
  'the signed header %s must come as it was signed',
  async (name) => {
    const target = newPath(content);
    const order = await rig.sign('put', target, target.slice(-64));
    const without = {
      ...order,
      headers: Object.fromEntries(Object.entries(order.headers).filter(([key]) => key !== name)),
    };
    expect((await send(without, { body: content })).status).toBe(403);
    expect((await send(order, { body: content, headers: { [name]: 'other' } })).status).toBe(403);
    expect((await send(order, { body: content })).status).toBe(200);
  },
);

// Shows OBJECT-11.
test('a header of S3 that was not signed is refused, as S3 does', async () => {
  const target = newPath(content);
  const order = await rig.sign('put', target);
  const headers = { 'x-amz-checksum-sha256': 'AAAA' };
  expect((await send(order, { body: content, headers })).status).toBe(403);
  expect((await send(order, { body: content, headers: { 'x-amz-meta-owner': 'me' } })).status).toBe(403);
  expect((await send(order, { body: content, headers: { 'x-amz-cf-id': 'from a proxy' } })).status).toBe(200);
});

test('a URL is good until its end, and not a moment longer', async () => {
  const order = await rig.sign('get', path);
  expect(order.expiresAtMs).toBe(rig.clock.now() + 60_000);
  rig.clock.advance(59_999);
  expect((await send(order)).status).toBe(200);
  rig.clock.advance(1);
  const expired = await send(order);
  expect(expired.status).toBe(403);
  expect(await expired.json()).toEqual({ error: expect.stringMatching(/expired/), code: 'OBJECT_URL_EXPIRED' });
});

test('the life of a URL begins with the signing second', async () => {
  rig.clock.advance(750);
  const order = await rig.sign('get', path);
  expect(order.expiresAtMs).toBe(Math.floor(rig.clock.now() / 1000) * 1000 + 60_000);
  rig.clock.advance(250);
});

test('no path leads out of the store, even with a good signature', async () => {
  const seal = createUrlSeal(SIGNING_KEY);
  const expiresSeconds = rig.clock.now() / 1000 + 60;
  const paths = [
    '../../etc/passwd',
    'v1/../../../etc/passwd',
    'tmp/x',
    `v1/${'.'.repeat(64)}/${'a'.repeat(32)}/${'b'.repeat(64)}`,
  ];
  for (const objectPath of paths) {
    for (const sent of [objectPath, objectPath.replaceAll('/', '%2f'), objectPath.replaceAll('.', '%2e')]) {
      const query = seal.seal({ method: 'GET', objectPath, expiresSeconds });
      expect([sent, await getRaw(`/objects/${sent}?${query}`)]).toEqual([sent, 403]);
    }
  }
});

/** `fetch` would tidy the path up before sending it. */
async function getRaw(target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(rig.url);
  const sent = httpRequest({ hostname, port, path: target }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

test('methods that objects do not know: 405, saying which they know', async () => {
  for (const method of ['POST', 'PATCH']) {
    const refused = await send(await rig.sign('get', path), { method });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, PUT, HEAD, DELETE, OPTIONS']);
    expect(await refused.json()).toEqual({ error: expect.any(String), code: 'METHOD_NOT_ALLOWED' });
  }
});

test('a put that was signed for a size takes no other, nor does its URL with another size', async () => {
  const upload = newPath(content);
  const order = { operation: 'put', objectPath: upload, nowMs: rig.clock.now(), lifetimeSeconds: 60 } as const;
  const put = (signed: SignedOperation) => {
    const headers = { ...signed.headers, 'content-length': String(content.length) };
    return send({ ...signed, headers }, { body: content });
  };
  const longer = await rig.objects.signer.sign({ ...order, size: content.length + 1 });
  expect((await put(longer)).status).toBe(403);
  const resized = altered(longer, (url) => url.searchParams.set('size', String(content.length)));
  expect((await put(resized)).status).toBe(403);
  expect((await put(await rig.objects.signer.sign({ ...order, size: content.length }))).status).toBe(200);
});
