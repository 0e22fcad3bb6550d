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
    expect(await response.json()).toEqual({ error: expect.stringContaining('There is no route GET /docs/') });
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
});
