import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createAdminClient, createGatewayClient, createRelayerClient } from '@prism-gateway/sdk';
import { findFreePort, startGateway } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startProgram, startWorld } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';

const FEE = 3000n * 10n ** 18n;

// Shows RELAY-8.
test('after the gateway was restored from an older backup, what was reported is reported again, and new requests are served', async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ users: 3, relayers: 1 }));
  const [dataDir, backup] = [join(world.dir, 'gateway'), join(world.dir, 'backup')];
  const env = { PORT: String(await findFreePort()) };
  let gateway = await startGateway({ env, dataDir });
  stack.defer(async () => void (await gateway.stop()));
  const account = privateKeyToAccount(world.relayerKeys[0]!);
  const client = createGatewayClient({ url: gateway.url });
  const admin = createAdminClient({ gateway: client, adminKey: gateway.adminKey });
  await admin.addRelayer({ address: account.address });

  async function post(user: number): Promise<string> {
    const params = await signWrite(world.deployment, world.users[user]!, {
      ...{ dataId: numberToHex(1, { size: 32 }), payload: '0xabcd', relayerFee: FEE, nonce: 1n },
      timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
    });
    const body = { chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params } as const;
    return (await client.submitRequest(body)).requestId;
  }
  const wait = (requestId: string) => client.waitForRequest(requestId, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });

  const [pending, claimed] = [await post(0), await post(1)];
  await createRelayerClient({ url: gateway.url, account }).claim(claimed);
  await gateway.stop();
  await cp(dataDir, backup, { recursive: true });
  gateway = await startGateway({ env, dataDir });
  const relayer = await startProgram('relayer', { env: { ...world.relayerEnv(0), GATEWAY_URL: gateway.url } });
  stack.defer(() => relayer.kill());
  const first = [await wait(pending), await wait(claimed)];
  expect(first.map(({ status }) => status)).toEqual(['success', 'success']);

  await gateway.stop();
  await rm(dataDir, { recursive: true });
  await cp(backup, dataDir, { recursive: true });
  gateway = await startGateway({ env, dataDir });
  const fresh = await post(2);
  expect(await wait(fresh)).toMatchObject({ status: 'success' });
  const again = [await wait(pending), await wait(claimed)];
  expect(again.map(({ status, txHash }) => [status, txHash])).toEqual(
    first.map(({ status, txHash }) => [status, txHash]),
  );
  // Nothing was sent for them again.
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBeLessThanOrEqual(3);
});
