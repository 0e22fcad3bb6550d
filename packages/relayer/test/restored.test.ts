import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createAdminClient, createGatewayClient, createRelayerClient } from '@prism-gateway/sdk';
import { findFreePort, startGateway } from '@prism-gateway/testing';
import { startProgram, startWorld } from '@prism-gateway/testing/world';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { post, waitFor } from './rig.ts';

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

  const served = { ...world, client };
  const wait = (requestId: string) => waitFor(served, requestId);

  const [pending, claimed] = [await post(served, { user: 0 }), await post(served, { user: 1 })];
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
  const fresh = await post(served, { user: 2 });
  expect(await wait(fresh)).toMatchObject({ status: 'success' });
  const again = [await wait(pending), await wait(claimed)];
  expect(again.map(({ status, txHash }) => [status, txHash])).toEqual(
    first.map(({ status, txHash }) => [status, txHash]),
  );
  // Nothing was sent for them again.
  expect(await relayer.readMetric('prism_relayer_transactions_total')).toBeLessThanOrEqual(3);
});
