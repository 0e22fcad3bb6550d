import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { LONG, post, readHealth, waitFor } from './rig.ts';

// Shows RELAY-23.
test('a relayer whose journal cannot be opened at its start says so, and works once it can', async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ users: 1, relayers: 1 }));
  const dataDir = join(world.dir, 'blocked');
  const { address } = privateKeyToAccount(world.relayerKeys[0]!);
  const journal = join(dataDir, `relayer-31337-${address.toLowerCase()}.db`);
  // SQLite can open no folder, as it can open nothing on a disk that is away.
  await mkdir(journal, { recursive: true });
  const relayer = await startProgram('relayer', { env: { ...world.relayerEnv(0), DATA_DIR: dataDir } });
  stack.defer(() => relayer.kill());
  await expect.poll(() => readHealth(relayer), LONG).toMatch(/cannot write its journal since .*: .*unable to open/);
  await rm(journal, { recursive: true });
  expect(await waitFor(world, await post(world, { user: 0 }))).toMatchObject({ status: 'success' });
  await expect.poll(() => readHealth(relayer), LONG).toBe('ok\n');
  expect(await relayer.stop()).toBe(0);
});
