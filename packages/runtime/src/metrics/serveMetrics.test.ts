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
