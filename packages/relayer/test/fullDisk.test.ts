import { mountSmall } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startProgram, startWorld } from '@prism-gateway/testing/world';
import { createTestClient, http, numberToHex, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, expect, test } from 'vitest';
import { readHealth } from './readHealth.ts';

const LONG = { timeout: PATIENCE_MS };
const disk = mountSmall();
afterAll(() => disk?.close());

// Shows RELAY-23.
test.skipIf(disk === undefined)(
  'on a full disk nothing is lost or sent twice, it is told, and all goes on once there is room',
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
    const chain = createTestClient({ mode: 'anvil', transport: http(world.devnet.rpcUrl) }).extend(publicActions);
    const { address } = privateKeyToAccount(world.relayerKeys[0]!);
    const countSent = () => chain.getTransactionCount({ address, blockTag: 'pending' });
    async function post(user: number): Promise<string> {
      const params = await signWrite(world.deployment, world.users[user]!, {
        ...{ dataId: numberToHex(1, { size: 32 }), payload: '0xabcd', relayerFee: 3000n * 10n ** 18n, nonce: 1n },
        timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
      });
      const body = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
      return (await world.client.submitRequest(body)).requestId;
    }
    const waitFor = (id: string) => world.client.waitForRequest(id, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });

    expect(await waitFor(await post(0))).toMatchObject({ status: 'success' });
    await chain.setAutomine(false);
    const onItsWay = await post(1);
    await expect.poll(countSent, LONG).toBe(2);
    disk?.fill();
    const late = await post(2);
    await expect.poll(() => readHealth(relayer), LONG).toMatch(/cannot write its journal since .*: .*full/);
    await chain.mine({ blocks: 1 });
    await chain.setAutomine(true);
    await expect.poll(() => readHealth(relayer), LONG).toMatch(/cannot write its journal/);
    expect(relayer.process.exitCode).toBe(null);
    disk?.free();
    expect(await waitFor(onItsWay)).toMatchObject({ status: 'success' });
    expect(await waitFor(late)).toMatchObject({ status: 'success' });
    await expect.poll(() => readHealth(relayer), LONG).toBe('ok\n');
    expect(await countSent()).toBe(3);
    expect(await relayer.readMetric('prism_relayer_faults_total', 'where="work"')).toBe(0);
    expect(await relayer.stop()).toBe(0);
  },
);
