import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { startGateway } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { runServer } from './runServer.ts';

/** A port that nothing listens on. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const prod = {
  STAGE: 'prod',
  ADMIN_API_KEY: '0123456789abcdef0123456789abcdef',
  IDENTITY_ISSUER: 'https://id.example',
  IDENTITY_APP_ID: 'app',
};

// Shows OPERATE-4, OPERATE-7.
test('in prod, metrics are on a port of their own alone, whatever the spelling of the path', async () => {
  const port = await findFreePort();
  const gateway = await startGateway({ env: { ...prod, METRICS_PORT: String(port) } });
  try {
    for (const path of ['/metrics', '/%6detrics', '//metrics', '/x/../metrics', '/metrics?', '/METRICS', '/metrics/']) {
      expect([path, (await fetch(`${gateway.url}${path}`)).status]).toEqual([path, 404]);
    }
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const name of ['prism_oldest_pending_seconds 0', 'prism_oldest_processing_seconds 0', 'prism_budget_used{'])
      expect(metrics).toContain(name);
    const forwarded = () => fetch(`${gateway.url}/health`, { headers: { 'x-forwarded-for': '203.0.113.1' } });
    await forwarded();
    await forwarded();
    await gateway.stop();
    const reported = (text: string) => gateway.output.filter((line) => line.includes(text)).length;
    expect([reported('X-Forwarded-For came'), reported('RATE_LIMIT_WRITES is 0')]).toEqual([1, 1]);
  } finally {
    await gateway.kill();
  }
});

test('a port of metrics that is in use is reported by name', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await runServer({ PORT: '0', METRICS_PORT: String(port) });
  taken.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining(`127.0.0.1:${port} is in use: set METRICS_PORT`)]);
});
