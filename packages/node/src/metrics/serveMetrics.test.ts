import { Counter, Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { type MetricsSource, serveMetrics } from './serveMetrics.ts';

async function start(registry: MetricsSource) {
  const server = await serveMetrics({ registry, port: 0 });
  onTestFinished(() => server.close());
  return server;
}

test('serves what is counted, and that it is alive', async () => {
  const registry = new Registry();
  new Counter({ name: 'x_total', help: 'x', registers: [registry] }).inc(3);
  const { url } = await start(registry);
  const metrics = await fetch(`${url}/metrics`);
  expect(metrics.headers.get('content-type')).toBe(registry.contentType);
  expect(await metrics.text()).toContain('x_total 3');
  expect(await (await fetch(`${url}/health`)).text()).toBe('ok\n');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('listens on this machine alone, unless another address is named', async () => {
  const registry = new Registry();
  new Counter({ name: 'named_total', help: 'x', registers: [registry] }).inc();
  const server = await serveMetrics({ registry, port: 0, host: '127.0.0.2' });
  onTestFinished(() => server.close());
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('named_total');
  // Another program may have the same port there.
  const { port } = new URL(server.url);
  const elsewhere = await fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  expect(elsewhere).not.toContain('named_total');
});

test('answers nothing else, and says when metrics cannot be read', async () => {
  const { url } = await start({ contentType: 'text/plain', metrics: () => Promise.reject(new Error('no')) });
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
  expect((await fetch(`${url}/metrics`)).status).toBe(500);
});

test('a port in use is said', async () => {
  const registry = new Registry();
  const { url } = await start(registry);
  await expect(serveMetrics({ registry, port: Number(new URL(url).port) })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

test('shows further pages, and health as the daemon tells it', async () => {
  const pages = {
    '/health': () => ({ status: 503, body: 'cannot see the chain\n' }),
    '/status': (url: URL) => ({ contentType: 'application/json', body: JSON.stringify(url.search) }),
    '/broken'() {
      throw new Error('a secret');
    },
  };
  const server = await serveMetrics({ registry: new Registry(), port: 0, pages });
  onTestFinished(() => server.close());
  const health = await fetch(`${server.url}/health`);
  expect([health.status, await health.text()]).toEqual([503, 'cannot see the chain\n']);
  const status = await fetch(`${server.url}/status?a=1`);
  expect([status.headers.get('content-type'), await status.json()]).toEqual(['application/json', '?a=1']);
  const broken = await fetch(`${server.url}/broken`);
  expect([broken.status, await broken.text()]).toEqual([500, '']);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(200);
});
