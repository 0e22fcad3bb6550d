import { spawn } from 'node:child_process';
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
