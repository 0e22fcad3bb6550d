import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, test } from 'vitest';
import { readHealth } from './readHealth.ts';

const WELL: RpcFaultPlan = () => undefined;

/** Says of each call that it would revert, and is well in all else. */
const LIE: RpcFaultPlan = (method) => {
  if (method !== 'eth_simulateV1') return undefined;
  const revert = (call: unknown) => ({
    ...Object(call),
    ...{ status: '0x0', returnData: '0x', error: { code: 3, message: 'execution reverted', data: '0x' } },
  });
  const change = (blocks: unknown) =>
    // An array of blocks, each with its calls.
    (blocks as { calls: unknown[] }[]).map((block) => ({ ...block, calls: block.calls.map(revert) }));
  return { kind: 'change', change };
};

let world: World;
const open = new AsyncDisposableStack();
beforeAll(async () => {
  world = open.use(await startWorld({ users: 2, relayers: 2 }));
});
afterAll(() => open.disposeAsync());

/** A relayer whose first node lies, and a request that it has claimed already. */
async function start(index: number, honest: number) {
  const plans = [LIE, ...Array.from({ length: honest }, () => WELL)];
  const proxies = await Promise.all(plans.map((plan) => startRpcFaultProxy({ target: world.devnet.rpcUrl, plan })));
  for (const proxy of proxies) open.use(proxy);
  const chainName = `chain-of-${index}`;
  const env = world.relayerEnv(index, proxies.map(({ url }) => url).join(','));
  const relayer = await startProgram('relayer', { env: { ...env, CHAIN_NAME: chainName, GIVE_UP_SECONDS: '0' } });
  open.defer(() => relayer.kill());
  const params = await signWrite(world.deployment, world.users[index]!, {
    ...{ dataId: numberToHex(1, { size: 32 }), payload: '0xabcd', relayerFee: 3000n * 10n ** 18n, nonce: 1n },
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
  });
  const { requestId } = await world.client.submitRequest({ chainName, action: 'WRITE_DATA_FOR', params });
  return { relayer, requestId, liar: proxies[0]! };
}

const waitFor = (requestId: string) =>
  world.client.waitForRequest(requestId, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });

// Shows RELAY-20.
test.concurrent('of three nodes one that lies in simulations ends no request, and is asked no more', async ({
  expect,
}) => {
  const { relayer, requestId } = await start(0, 2);
  expect(await waitFor(requestId)).toMatchObject({ status: 'success' });
  const told = /"node":"node 1 of RPC_URL","says":"that it would revert: .*is alone with that/;
  expect(relayer.output.some((line) => told.test(line))).toBe(true);
  await relayer.kill();
});

// Shows RELAY-20.
test.concurrent('of two nodes one that lies in simulations ends no request; the health says which says what', async ({
  expect,
}) => {
  const { relayer, requestId, liar } = await start(1, 1);
  await expect
    .poll(() => readHealth(relayer), { timeout: PATIENCE_MS })
    .toMatch(/node 1 of RPC_URL says that it would revert: .*; node 2 of RPC_URL says that it would be carried out;/);
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'processing' });
  liar.setPlan(WELL);
  expect(await waitFor(requestId)).toMatchObject({ status: 'success' });
  await relayer.kill();
});
