import { setTimeout as sleep } from 'node:timers/promises';
import { createAdminClient } from '@prism-gateway/sdk';
import { isLong } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, test } from 'vitest';
import { LONG, post, readHealth } from './rig.ts';

let world: World;
const open = new AsyncDisposableStack();
beforeAll(async () => {
  world = open.use(await startWorld({ users: 3, relayers: 4 }));
});
afterAll(() => open.disposeAsync());

/** Has a process believe in another time. */
const shiftClock = (ms: number) => [
  '--import',
  `data:text/javascript,const D=Date,n=D.now;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(n()+${ms})}static now(){return n()+${ms}}}`,
];

// Shows RELAY-25.
test.concurrent.for([
  ['fast', 0, 600_000, 'ahead of'],
  ['slow', 1, -600_000, 'behind'],
] as const)('a relayer whose clock is ten minutes %s says so', async ([, index, ms, side], { expect }) => {
  const relayer = await startProgram('relayer', { env: world.relayerEnv(index), nodeFlags: shiftClock(ms) });
  open.defer(() => relayer.kill());
  const fault = `cannot trust its clock since .*Z: it is (599|60\\d) seconds ${side} the gateway's; set the clock of this`;
  await expect.poll(() => readHealth(relayer), LONG).toMatch(new RegExp(fault));
  // Each counts as a failed authentication of all behind its address. Of one round there are two; at two rounds a second there would be eight.
  const countRefused = () => relayer.output.filter((line) => line.includes('"round failed"')).length;
  const before = countRefused();
  await sleep(4000);
  expect(countRefused() - before).toBeLessThanOrEqual(3);
  await relayer.kill();
});

const isRefusal = (line: string) => line.includes('"round failed"') && line.includes('RELAYER_SUSPENDED');

test('a relayer that is suspended while requests wait for their turn says so, and asks no more often', async ({
  expect,
}) => {
  const env = { ...world.relayerEnv(3), CHAIN_NAME: 'shut-out', GIVE_UP_SECONDS: '1', POLL_MAX_MS: '300' };
  const relayer = await startProgram('relayer', { env });
  open.defer(() => relayer.kill());
  const ids = [2n, 3n, 4n].map((nonce) => post(world, { user: 0, nonce, chainName: 'shut-out' }));
  await Promise.all(ids);
  await expect.poll(() => relayer.readMetric('prism_relayer_requests', 'reason="nonceAhead"'), LONG).toBe(3);
  const admin = createAdminClient({ gateway: world.client, adminKey: world.gateway.adminKey });
  await admin.suspendRelayer({ address: privateKeyToAccount(world.relayerKeys[3] as Hex).address, reason: 'a look' });
  await expect.poll(() => relayer.output.some(isRefusal), LONG).toBe(true);
  const before = relayer.output.filter(isRefusal).length;
  await sleep(4000);
  expect(relayer.output.filter(isRefusal).length - before).toBeLessThanOrEqual(4);
  expect(await readHealth(relayer)).toMatch(/cannot reach the gateway .* it answers 401: .* is suspended/);
  await relayer.kill();
});

// Shows RELAY-26.
test.concurrent.for([
  ['base units', '3000000000000000000000000', /CREDITS_PER_ETH is 3\d{24}: .* no fee would ever pay/],
  ['ether for a credit', '0.00000033', /CREDITS_PER_ETH is 0\.00000033: .* any fee would pay for any gas/],
] as const)('a rate in %s ends the start with the reason', async ([, rate, reason], { expect }) => {
  const env = { ...world.relayerEnv(2), CREDITS_PER_ETH: rate, DATA_DIR: `${world.dir}/rate-${rate}` };
  await expect(startProgram('relayer', { env })).rejects.toThrow(reason);
});

// Shows RELAY-26.
test
  .runIf(isLong)
  .concurrent('a rate that is too large by far has /health say that all fees are too small', async ({ expect }) => {
    const relayer = await startProgram('relayer', { env: { ...world.relayerEnv(3), CREDITS_PER_ETH: '3000000000' } });
    open.defer(() => relayer.kill());
    for (const user of world.users.keys()) await post(world, { user });
    const fault = /takes no request since .*: all requests, of 3 signers, were left as `fee`: look at CREDITS_PER_ETH/;
    await expect.poll(() => readHealth(relayer), { timeout: TIMEOUT_MS + 60_000 }).toMatch(fault);
  });
