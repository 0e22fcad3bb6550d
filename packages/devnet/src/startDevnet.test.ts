import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createPublicClient, createTestClient, http } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { expect, it } from 'vitest';
import { deployContracts } from './deployContracts.ts';
import { catchUpClock, findAnvil, startDevnet } from './startDevnet.ts';

/** Whether a process is there; signal 0 only asks. */
function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}

it('has a clock that is not behind, whatever Anvil began with', async () => {
  await using devnet = await startDevnet();
  const transport = http(devnet.rpcUrl);
  const readClock = async () => (await createPublicClient({ transport }).getBlock({ blockTag: 'pending' })).timestamp;
  const now = () => BigInt(Math.floor(Date.now() / 1000));
  await createTestClient({ mode: 'anvil', transport }).request({
    method: 'evm_setTime',
    params: [Number(now()) - 5],
  } as never);
  expect(await readClock()).toBeLessThan(now() - 3n);
  await catchUpClock(devnet.rpcUrl);
  expect(await readClock()).toBeGreaterThanOrEqual(now() - 1n);
});

it('is a chain with funded accounts, and ends when it is asked to', async () => {
  const port = await findFreePort();
  const devnet = await startDevnet({ port, chainId: 4242, accounts: 3 });
  expect(devnet.rpcUrl).toBe(`http://127.0.0.1:${port}`);
  const client = createPublicClient({ transport: http(devnet.rpcUrl) });
  expect(await client.getChainId()).toBe(4242);
  expect(devnet.privateKeys).toHaveLength(3);
  for (const key of devnet.privateKeys) {
    expect(await client.getBalance({ address: privateKeyToAddress(key) })).toBe(10_000n * 10n ** 18n);
  }
  await devnet.stop();
  await devnet.stop();
  // Stopping waits for the end, so the process is no more.
  expect(lives(devnet.process.pid!)).toBe(false);
});

it('takes any free port, so that many run side by side', async () => {
  await using first = await startDevnet();
  await using second = await startDevnet();
  expect(first.rpcUrl).not.toBe(second.rpcUrl);
});

it('stays up however much it logs', async () => {
  await using devnet = await startDevnet();
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
  const body = JSON.stringify(Array.from({ length: 1_000 }, () => call));
  // A line a call: several times what a pipe holds.
  for (let round = 0; round < 10; round++) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(devnet.rpcUrl, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
    expect(await answer.json()).toHaveLength(1_000);
  }
});

it('says why it cannot start', async () => {
  await using first = await startDevnet();
  const port = Number(new URL(first.rpcUrl).port);
  await expect(startDevnet({ port })).rejects.toMatchObject({ code: 'ANVIL_START_FAILED', message: /in use/ });
});

it('ends with its signal', async () => {
  const controller = new AbortController();
  const devnet = await startDevnet({ signal: controller.signal });
  const closed = once(devnet.process, 'close');
  controller.abort();
  await closed;
  await expect(startDevnet({ signal: controller.signal })).rejects.toThrow();
});

it('has blocks at its own pace, and the contracts deploy there, too', async () => {
  await using devnet = await startDevnet({ blockTimeMs: 100 });
  const deployment = await deployContracts({ rpcUrl: devnet.rpcUrl, privateKey: devnet.privateKeys[0]! });
  const client = createPublicClient({ transport: http(devnet.rpcUrl) });
  for (const name of ['forwarder', 'cloud', 'core', 'creditToken', 'exchange', 'stablecoin'] as const) {
    expect(await client.getCode({ address: deployment[name] })).toMatch(/^0x60/);
  }
});

/** Mines enough blocks for Anvil to put the states of the older ones on the disk. */
async function mineMany(rpcUrl: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0x320'] });
  await (await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
}

it('leaves nothing on the disk, and keeps few states of the past there', async () => {
  // Those of tests before it may still be on their way out.
  const before = readdirSync(tmpdir());
  const added = () => readdirSync(tmpdir()).filter((name) => !before.includes(name));
  const devnet = await startDevnet();
  await mineMany(devnet.rpcUrl);
  const [folder = ''] = added();
  const states = () =>
    readdirSync(join(tmpdir(), folder), { recursive: true }).filter((name) => /json$/.test(`${name}`));
  await expect.poll(() => states().length).toBeGreaterThan(100);
  expect(states().length).toBeLessThanOrEqual(256);
  await devnet.stop();
  expect(added()).toEqual([]);
});

it('does not outlive a process that is killed, nor does what it has on the disk', async () => {
  const script = `
    const { startDevnet } = await import(${JSON.stringify(fileURLToPath(new URL('./startDevnet.ts', import.meta.url)))});
    const devnet = await startDevnet();
    console.log(devnet.process.pid, devnet.rpcUrl);
    setInterval(() => {}, 1_000);
  `;
  const home = mkdtempSync(join(tmpdir(), 'home-'));
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: home, TMPDIR: home },
  });
  try {
    const [line] = (await once(createInterface({ input: parent.stdout! }), 'line')) as [string];
    const [pid, rpcUrl = ''] = line.split(' ');
    await mineMany(rpcUrl);
    expect(lives(Number(pid))).toBe(true);
    expect(readdirSync(home)).toEqual([expect.stringMatching(/^prism-devnet-/)]);
    parent.kill('SIGKILL');
    await once(parent, 'close');
    // Its guardian ends it; the test's own limit of time is the bound.
    await expect.poll(() => lives(Number(pid))).toBe(false);
    await expect.poll(() => readdirSync(home)).toEqual([]);
  } finally {
    parent.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  }
});

it('says how to get Anvil where it is not installed', () => {
  expect(() => findAnvil('file:///nowhere/startDevnet.js')).toThrow(
    /is not installed .*npm install @foundry-rs\/anvil/,
  );
});
