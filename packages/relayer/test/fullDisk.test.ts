import { mountSmall } from '@prism-gateway/testing';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, expect, test } from 'vitest';
import { connect, LONG, post, readHealth, waitFor } from './rig.ts';

const disk = mountSmall();
afterAll(() => disk?.close());

// Shows RELAY-23.
test.skipIf(disk === undefined)(
  'on a full disk nothing is lost or sent twice, it is reported, and all goes on once there is room',
  async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await startWorld({ users: 3, relayers: 1 }));
    const relayer = await startProgram('relayer', {
      env: {
        ...world.relayerEnv(0),
        DATA_DIR: `${disk?.dir}/relayer`,
        POLL_MAX_MS: '300',
      },
    });
    stack.defer(() => relayer.kill());
    const chain = connect(world);
    const { address } = privateKeyToAccount(world.relayerKeys[0]!);
    const countSent = () => chain.getTransactionCount({ address, blockTag: 'pending' });

    expect(await waitFor(world, await post(world, { user: 0 }))).toMatchObject({ status: 'success' });
    await chain.setAutomine(false);
    const onItsWay = await post(world, { user: 1 });
    await expect.poll(countSent, LONG).toBe(2);
    disk?.fill();
    const late = await post(world, { user: 2 });
    await expect.poll(() => readHealth(relayer), LONG).toMatch(/cannot write its journal since .*: .*full/);
    await chain.mine({ blocks: 1 });
    await chain.setAutomine(true);
    await expect.poll(() => readHealth(relayer), LONG).toMatch(/cannot write its journal/);
    expect(relayer.process.exitCode).toBe(null);
    disk?.free();
    expect(await waitFor(world, onItsWay)).toMatchObject({ status: 'success' });
    expect(await waitFor(world, late)).toMatchObject({ status: 'success' });
    await expect.poll(() => readHealth(relayer), LONG).toBe('ok\n');
    expect(await countSent()).toBe(3);
    expect(await relayer.readMetric('prism_relayer_faults_total', 'where="work"')).toBe(0);
    expect(await relayer.stop()).toBe(0);
  },
);
