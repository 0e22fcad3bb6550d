import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./run.ts', import.meta.url));

/** Each walk has a wallet and relayers of its own, and takes the relayers away again. */
let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => void (await gateway?.stop()));

async function play(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test('the walkthrough plays the main job and shows no secret in full', async () => {
  const { code, output } = await play('--url', gateway.url);
  expect(output).toContain('one 200, 19 times 409');
  expect(output).toContain('12 requests of this wallet: 1 success, 1 failed, 10 pending');
  expect(output).toContain('the same bytes came back');
  expect(output).toContain(`${gateway.url}/console`);
  expect(output).toMatch(/Done in [\d.]+ s: 12 requests created/);
  expect(output).not.toContain(gateway.adminKey);
  expect(output).not.toMatch(/eyJ[\w-]+\.[\w-]+\./);
  expect(output).not.toMatch(/signature=[0-9a-f]/);
  expect(code).toBe(0);
  const whitelist = await fetch(`${gateway.url}/admin/relayers`, { headers: { 'X-Admin-Key': gateway.adminKey } });
  expect(await whitelist.json()).toEqual({ relayers: [], count: 0 });
});

test('a gateway below a path of a proxy is walked through and pointed to as well', async () => {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const asked = request(gateway.url + url.replace('/prism', ''), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(asked);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  try {
    // A listening TCP server has an AddressInfo.
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/prism`;
    const { code, output } = await play('--url', url);
    expect([code, output]).toEqual([0, expect.stringContaining(`${url}/console,`)]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('a wrong key stops it with the reason and exit 1', async () => {
  const { code, output } = await play('--url', gateway.url, '--admin-key', 'wrong');
  expect(output).toContain('The walkthrough stopped. POST /admin/relayers was answered with 401');
  expect(code).toBe(1);
});

test('without a development issuer it asks for a token before it does anything', async () => {
  const provider = { IDENTITY_ISSUER: 'http://127.0.0.1:9', IDENTITY_APP_ID: 'app' };
  const other = await startGateway({ env: provider });
  try {
    const { code, output } = await play('--url', other.url);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/has no development issuer: give an access token .* with --token/),
    ]);
    expect(output).not.toContain('POST');
  } finally {
    await other.stop();
  }
});

test('without a gateway it says what to do, and exits with 1', async () => {
  const { code, output } = await play('--url', 'http://127.0.0.1:9');
  expect(output).toContain('Start it with npx prism start');
  expect(code).toBe(1);
});
