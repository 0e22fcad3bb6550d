import { join } from 'node:path';
import { createAdminClient, createRelayerClient } from '@prism-gateway/sdk';
import { createLogRecorder, startRpcFaultProxy } from '@prism-gateway/testing';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { openWatchJournal } from '../src/watchtower/journal/openWatchJournal.ts';
import { startWatchtower } from '../src/watchtower/startWatchtower.ts';
import { parseWatchSettings } from '../src/watchtower/watchSettings.ts';
import { connect, LONG, post, waitFor } from './rig.ts';

const [HONEST, LOOPER, WATCHER] = [0, 1, 2];
const ROUNDS = 16;
const HELD = 'requests{chain="eip155:31337",state="held"}';
const FOUND = 'findings_total{chain="eip155:31337",kind="idleRelease"}';

// Shows WATCH-1 and WATCH-4.
test('a relayer that claims and gives back without ever working is found and suspended, and an honest one beside it is not', async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ users: 2, relayers: 3 }));
  const chain = connect(world);
  const honest = await startProgram('relayer', { env: world.relayerEnv(HONEST) });
  stack.defer(async () => void (await honest.stop()));
  const other = stack.use(await startRpcFaultProxy({ target: world.devnet.rpcUrl }));
  const settings = parseWatchSettings({
    ...world.relayerEnv(WATCHER, [world.devnet.rpcUrl, other.url].join(',')),
    ...{ DATA_DIR: join(world.dir, 'watchtower'), POLL_MS: '20', METRICS_PORT: '0', LEASE_SECONDS: '7200' },
    ...{ ENFORCE: 'true', ADMIN_API_KEY: world.gateway.adminKey },
  });
  const watchtower = await startWatchtower({ settings, log: createLogRecorder(), now: Date.now });
  stack.defer(() => watchtower.stop());
  async function read(name: string): Promise<number> {
    const text = await (await fetch(`${watchtower.metricsUrl}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`prism_watchtower_${name}`))
        ?.split(' ')[1] ?? -1,
    );
  }
  const until = (name: string, isSo: (value: number) => boolean) =>
    expect.poll(async () => isSo(await read(name)), LONG).toBe(true);

  // No honest relayer takes the smallest fee.
  const requestId = await post(world, { user: 0, fee: 1n });
  const account = privateKeyToAccount(world.relayerKeys[LOOPER]!);
  const looper = createRelayerClient({ url: world.gateway.url, account });
  for (let round = 0; round < ROUNDS; round += 1) {
    const claim = await looper.claim(requestId).catch((error: unknown) => error);
    if (claim instanceof Error) break;
    // It may have been suspended in between.
    await expect.poll(async () => (await read(HELD)) === 1 || (await read(FOUND)) === 1, LONG).toBe(true);
    await looper.releaseRequest(requestId).catch(() => undefined);
    await until(HELD, (held) => held === 0);
    await chain.increaseTime({ seconds: 60 });
    await chain.mine({ blocks: 1 });
  }
  await until(FOUND, (found) => found === 1);
  const admin = createAdminClient({ gateway: world.client, adminKey: world.gateway.adminKey });
  await expect
    .poll(
      async () => (await admin.listRelayers()).relayers.filter(({ suspendedAt }) => suspendedAt !== undefined),
      LONG,
    )
    .toEqual([expect.objectContaining({ suspendReason: expect.stringMatching(/^watchtower: idleRelease/) })]);
  await expect(looper.claim(requestId)).rejects.toMatchObject({ status: 401 });
  // Others go on.
  expect(await waitFor(world, await post(world, { user: 1 }))).toMatchObject({ status: 'success' });
  await watchtower.stop();
  const journal = openWatchJournal({ path: join(world.dir, 'watchtower', 'watchtower-31337.db'), now: Date.now });
  expect(journal.listFindings()).toEqual([
    expect.objectContaining({ kind: 'idleRelease', relayer: account.address.toLowerCase() }),
  ]);
  journal.close();
});
