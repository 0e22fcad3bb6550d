import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DocumentedGateway, startDocumentedGateway } from '../../../test/rigs/documentedGateway.ts';

describe('the API reference', () => {
  let gateway: DocumentedGateway;
  beforeAll(async () => {
    gateway = await startDocumentedGateway();
  });
  afterAll(() => gateway.close());

  const get = (path: string) => gateway.ask({ method: 'GET', path });

  it('is a page that may run nothing but its own scripts and styles', async () => {
    const { status, headers } = await get('/docs');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('has the document compressed, and not twice for who has it', async () => {
    const plain = await get('/openapi.json');
    const tag = plain.headers.get('etag') ?? '';
    expect([plain.headers.get('content-encoding'), tag]).toEqual([null, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
    const document = await plain.text();
    const ask = (headers: Record<string, string>) => gateway.ask({ method: 'GET', path: '/openapi.json', headers });
    const zipped = await ask({ 'accept-encoding': 'br, gzip' });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(zipped.headers.get('vary')).toBe('accept-encoding');
    const bytes = Buffer.from(await zipped.arrayBuffer());
    expect(bytes.length).toBeLessThan(document.length / 5);
    expect(String(gunzipSync(bytes))).toBe(document);
    const known = await ask({ 'if-none-match': `"other", ${tag}` });
    expect([known.status, await known.text()]).toEqual([304, '']);
  });

  it.each(['init.js', 'page.css', 'icon.svg', 'swagger-ui.css', 'swagger-ui-bundle.js'])('has %s', async (name) => {
    const response = await get(`/docs/${name}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it.each([
    '/docs/package.json',
    '/docs/..%2fdocs.ts',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/a/b',
    '/docs/__proto__',
  ])('has no %s', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: expect.stringContaining('There is no route GET /docs/'),
      code: 'ROUTE_NOT_FOUND',
    });
  });

  it('leads from /docs/ to /docs, below whatever base path there is', async () => {
    const response = await get('/docs/');
    expect(response.status).toBe(308);
    expect(new URL(response.headers.get('location') ?? '', 'https://api.example/prod/docs/').pathname).toBe(
      '/prod/docs',
    );
  });

  it('stands on the document of this service', async () => {
    const [first, second] = await Promise.all([get('/openapi.json'), get('/openapi.json')]);
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await first.json()).toMatchObject({ openapi: '3.1.1', servers: [{ url: 'http://127.0.0.1:8787' }] });
    expect(second.status).toBe(200);
  });

  // Shows OPERATE-8.
  it.each([
    [undefined, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
  ])('has before it, for Accept: %s, %s', async (accept, type) => {
    const response = await gateway.ask({ method: 'GET', path: '/', ...(accept && { headers: { accept } }) });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toMatch(/health/);
  });
});

// Shows OPERATE-9.
describe('the development relayer', () => {
  const prod = {
    ...{ STAGE: 'prod', ADMIN_API_KEY: 'k'.repeat(32), IDENTITY_ISSUER: 'http://127.0.0.1:9', IDENTITY_APP_ID: 'app' },
  };
  const order = { method: 'POST', path: '/dev/relayer/sign', body: { method: 'GET', path: '/requests/feed' } };

  it('signs what the gateway takes once it is whitelisted, and says what it cannot read', async () => {
    const gateway = await startDocumentedGateway();
    const { headers } = (await (await gateway.ask(order)).json()) as { headers: Record<string, string> };
    const feed = { method: 'GET', path: '/requests/feed?chainName=eip155:1', headers };
    expect((await gateway.ask(feed)).status).toBe(401);
    const key = { 'x-admin-key': gateway.adminKey };
    const body = { address: headers['x-relayer-address'] };
    expect((await gateway.ask({ method: 'POST', path: '/admin/relayers', headers: key, body })).status).toBe(201);
    expect((await gateway.ask(feed)).status).toBe(200);
    for (const wrong of ['', '{', { method: 'GET' }, { ...order.body, key: 1 }, { ...order.body, path: 'x\ny' }]) {
      expect((await gateway.ask({ ...order, body: wrong })).status).toBe(400);
    }
    expect((await gateway.ask({ ...order, method: 'GET', body: undefined })).status).toBe(405);
    const document = await (await gateway.ask({ method: 'GET', path: '/openapi.json' })).text();
    expect(document).toContain('/dev/relayer/sign');
    await gateway.close();
  });

  it('is not there in prod', async () => {
    const gateway = await startDocumentedGateway(prod);
    expect((await gateway.ask(order)).status).toBe(404);
    expect(await (await gateway.ask({ method: 'GET', path: '/openapi.json' })).text()).not.toContain('/dev/relayer');
    await gateway.close();
  });

  it('is answered to nobody from afar', async () => {
    const gateway = await startDocumentedGateway({ ADMIN_API_KEY: 'a-key-of-my-own' });
    expect((await gateway.ask({ ...order, peerAddress: '203.0.113.9' })).status).toBe(403);
    await gateway.close();
  });
});
