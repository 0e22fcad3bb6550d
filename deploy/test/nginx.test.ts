import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { CORS_HEADERS } from '@prism-gateway/protocol';
import { findFreePort, type RunningGateway, startBlackHole, startGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { callThrough, type ProxiedAnswer } from './rigs/callThrough.ts';
import { findTool } from './rigs/findTool.ts';
import { type Nginx, startNginx } from './rigs/startNginx.ts';

const nginx = findTool('nginx', 'nginx-light');
const READS_A_MINUTE = 30;
const MAX_BODY_BYTES = 262_144;
const MAX_OBJECT_BYTES = 104_857_600;
const json = { 'content-type': 'application/json' };

/** Ends with the test. */
function disposed<Rig extends AsyncDisposable>(rig: Rig): Rig {
  onTestFinished(async () => await rig[Symbol.asyncDispose]());
  return rig;
}

/** A body of `POST /requests` of exactly `bytes` bytes, padded with spaces at its end. */
function writeBody(bytes: number): string {
  const hex = (digits: number) => `0x${'1'.repeat(digits)}`;
  const params = {
    ...{ cloudId: '0xc10d', dataId: '0xda7a', payload: '0x01', relayerFee: '1', timestamp: '1767225600' },
    ...{ signer: hex(40), v: 27, r: hex(64), s: hex(64) },
  };
  return JSON.stringify({ chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params }).padEnd(bytes, ' ');
}

/** An error in the API's form, which a page of another origin may read. */
function expectApiError(answer: ProxiedAnswer, status: number): void {
  expect([answer.status, String(answer.body)]).toEqual([
    status,
    expect.stringMatching(/^\{"error":"[^"<>]+"(,"code":"[A-Z_]+")?\}$/),
  ]);
  expect(answer.headers).toMatchObject({ ...CORS_HEADERS, 'content-type': 'application/json; charset=utf-8' });
  expect(answer.headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/);
}

describe.skipIf(nginx === undefined)("Debian's nginx before a gateway", () => {
  let gateway: RunningGateway;
  let proxy: Nginx;
  const call = (params: Parameters<typeof callThrough>[1]) => callThrough(proxy.ports.tls, params);

  beforeAll(async () => {
    gateway = await startGateway({
      env: { TRUSTED_PROXY_HOPS: '1', ALLOW_DEV_IN_PUBLIC: 'true', RATE_LIMIT_READS: String(READS_A_MINUTE) },
    });
    // Present: the tests are skipped else.
    proxy = await startNginx(nginx as string, { upstream: new URL(gateway.url).host });
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await gateway?.stop();
  });

  test('the largest body passes, and the gateway itself refuses one byte more', async () => {
    const post = (bytes: number) => call({ method: 'POST', path: '/requests', headers: json, body: writeBody(bytes) });
    expect((await post(MAX_BODY_BYTES)).status).toBe(201);
    const refused = await post(MAX_BODY_BYTES + 1);
    expectApiError(refused, 413);
    expect(String(refused.body)).toContain(String(MAX_BODY_BYTES));
  });

  test('an object of 100 MiB streams in and out', async () => {
    const token = await (
      await fetch(`${gateway.url}/dev/identity/token`, { method: 'POST', headers: json, body: '{"sub":"alice"}' })
    ).json();
    const { access_token: bearer } = token as { access_token: string };
    const piece = Buffer.alloc(1024 * 1024, 'prism');
    const pieces = Array.from({ length: MAX_OBJECT_BYTES / piece.length }, () => piece);
    const hash = createHash('sha256');
    for (const one of pieces) hash.update(one);
    const key = `0x${hash.digest('hex')}`;
    const sign = async (operation: string) => {
      const body = JSON.stringify({ projectId: `0x${'a1'.repeat(16)}`, key, operation });
      const headers = { ...json, authorization: `Bearer ${bearer}` };
      const { body: signed } = await call({ method: 'POST', path: '/storage/sign', headers, body });
      const { url, headers: signedHeaders = {} } = JSON.parse(String(signed)) as {
        url: string;
        headers?: Record<string, string>;
      };
      const { pathname, search } = new URL(url);
      return { path: pathname + search, headers: signedHeaders };
    };
    const put = await sign('put');
    const sized = { ...put.headers, 'content-length': MAX_OBJECT_BYTES };
    expect((await call({ method: 'PUT', path: put.path, headers: sized, body: Readable.from(pieces) })).status).toBe(
      200,
    );
    const { status, body } = await call(await sign('get'));
    expect([status, createHash('sha256').update(body).digest('hex')]).toEqual([200, key.slice(2)]);
    expect(proxy.readLog()).toContain('PUT /objects/v1/');
    expect(proxy.readLog()).not.toMatch(/signature|\?/i);
  });

  test.each(['/metrics', '/dev/identity/token', '/dev/relayer/sign'])('%s is answered to nobody', async (path) => {
    expect((await fetch(`${gateway.url}${path}`)).status).not.toBe(502);
    const { status, body } = await call({ path });
    expect([status, JSON.parse(String(body))]).toEqual([404, { error: 'There is nothing at this address.' }]);
  });

  test('a wait of 25 s gets its answer', async () => {
    const posted = await call({ method: 'POST', path: '/requests', headers: json, body: writeBody(0) });
    const { requestId } = JSON.parse(String(posted.body)) as { requestId: string };
    const { status, body } = await call({ path: `/requests/${requestId}?status=pending&wait=25`, from: '127.0.0.7' });
    expect([status, JSON.parse(String(body))]).toMatchObject([200, { requestId, status: 'pending' }]);
  });

  test('limits count the client, whatever it writes into X-Forwarded-For', async () => {
    const read = (forged: string, from: string) =>
      call({
        path: '/requests?signer=0x0000000000000000000000000000000000000001',
        headers: { 'x-forwarded-for': forged },
        from,
      });
    const statuses: number[] = [];
    for (let i = 0; i <= READS_A_MINUTE; i++) statuses.push((await read(`198.51.100.${i}`, '127.0.0.2')).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await read('127.0.0.2', '127.0.0.3')).status).toBe(200);
  });

  test("a client's own request id is everybody's, and one of another form is replaced", async () => {
    const asked = async (id: string) =>
      (await call({ path: '/health', headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await asked('my-call.1')).toBe('my-call.1');
    expect(await asked('not an id')).toMatch(/^[0-9a-f]{32}$/);
    await expect.poll(() => proxy.readLog()).toContain(' my-call.1\n');
  });

  test('what nginx refuses is said in the form of the API, to pages of other origins too', async () => {
    const body = 'x'.repeat(2 * 1024 * 1024);
    expectApiError(await call({ method: 'POST', path: '/requests', headers: json, body }), 413);
    expectApiError(await call({ path: `/${'x'.repeat(20_000)}` }), 414);
    expectApiError(await call({ path: '/health', headers: { 'x-long': 'x'.repeat(20_000) } }), 400);
    const changes = { 'rate=200r/s;': 'rate=1r/m;', 'burst=400': 'burst=1' };
    const strict = disposed(await startNginx(nginx as string, { upstream: new URL(gateway.url).host, changes }));
    for (let calls = 0; calls < 2; calls++) await callThrough(strict.ports.tls, { path: '/health' });
    const refused = await callThrough(strict.ports.tls, { path: '/health' });
    expectApiError(refused, 429);
    expect(refused.headers['retry-after']).toBe('1');
  });

  test('a gateway that is gone, or silent, is 502 or 504', async () => {
    const hole = disposed(await startBlackHole());
    const changes = { 'proxy_read_timeout 60s;': 'proxy_read_timeout 1s;' };
    const silent = disposed(await startNginx(nginx as string, { upstream: new URL(hole.url).host, changes }));
    const late = await callThrough(silent.ports.tls, { path: '/health' });
    expectApiError(late, 504);
    await hole.close();
    const gone = await callThrough(silent.ports.tls, { path: '/health' });
    expectApiError(gone, 502);
    expect([late.headers['retry-after'], gone.headers['retry-after']]).toEqual(['5', '5']);
  });

  test('a gateway below a path shows its pages, and its objects come back through it', async () => {
    // As docs/deploy.md says.
    const changes = {
      'location / {': 'location /prism/ {\n    rewrite ^/prism(/.*)$ $1 break;',
      'location /objects/ {': 'location /prism/objects/ {\n    rewrite ^/prism(/.*)$ $1 break;',
    };
    const port = await findFreePort();
    const env = {
      PORT: String(port),
      TRUSTED_PROXY_HOPS: '1',
      ALLOW_DEV_IN_PUBLIC: 'true',
      PUBLIC_URL: 'https://gateway.example.org/prism',
    };
    const own = await startGateway({ env });
    onTestFinished(async () => void (await own.stop()));
    const below = disposed(await startNginx(nginx as string, { upstream: `127.0.0.1:${port}`, changes }));
    const callBelow = (params: Parameters<typeof callThrough>[1]) => callThrough(below.ports.tls, params);
    for (const page of ['/prism/', '/prism/console', '/prism/docs']) {
      const { status, body } = await callBelow({ path: page, headers: { accept: 'text/html' } });
      const links = [...String(body).matchAll(/(?:href|src)="([^":#]+)"/g)].map(([, link = '']) => link);
      expect([status, links.length > 0]).toEqual([200, true]);
      for (const link of links) {
        const path = new URL(link, `https://gateway.example.org${page}`).pathname;
        expect([path, (await callBelow({ path })).status]).toEqual([path, 200]);
      }
    }
    const issued = await callBelow({
      method: 'POST',
      path: '/prism/dev/identity/token',
      headers: json,
      body: '{"sub":"a"}',
    });
    const { access_token: bearer } = JSON.parse(String(issued.body)) as { access_token: string };
    const key = `0x${createHash('sha256').update('prism').digest('hex')}`;
    const move = async (operation: 'put' | 'get', body?: string) => {
      const asked = JSON.stringify({ projectId: `0x${'a1'.repeat(16)}`, key, operation });
      const headers = { ...json, authorization: `Bearer ${bearer}` };
      const signed = await callBelow({ method: 'POST', path: '/prism/storage/sign', headers, body: asked });
      const { url, headers: bound } = JSON.parse(String(signed.body)) as {
        url: string;
        headers: Record<string, string>;
      };
      const { pathname, search } = new URL(url);
      expect(pathname).toMatch(/^\/prism\/objects\//);
      const method = operation.toUpperCase();
      return await callBelow({ method, path: pathname + search, headers: bound, ...(body !== undefined && { body }) });
    };
    expect((await move('put', 'prism')).status).toBe(200);
    expect(String((await move('get')).body)).toBe('prism');
  });

  test('plain http is sent to https', async () => {
    const { status, headers } = await fetch(`http://127.0.0.1:${proxy.ports.plain}/docs?a=b`, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([308, 'https://127.0.0.1/docs?a=b']);
  });
});
