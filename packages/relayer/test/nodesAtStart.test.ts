import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, test } from 'vitest';
import { readHealth } from './readHealth.ts';

const FEE = 3000n * 10n ** 18n;
const WELL: RpcFaultPlan = () => undefined;

/** Says that its newest block is an early one, made a moment ago. It is another one each time: such a node has not got stuck. */
function createLag(): RpcFaultPlan {
  let asked = 0;
  function change() {
    asked += 1;
    return numberToHex(asked % 5);
  }
  return (method, _, params) => {
    if (method === 'eth_blockNumber') return { kind: 'change', change };
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined;
    const timestamp = numberToHex(Math.floor(Date.now() / 1000));
    return { kind: 'change', change: (block) => ({ ...Object(block), timestamp, number: change() }) };
  };
}

const isOfAnotherChain: RpcFaultPlan = (method) =>
  method === 'eth_chainId' ? { kind: 'answer', result: '0x1' } : undefined;
const isSilent: RpcFaultPlan = () => ({ kind: 'stallBefore' });

let world: World;
const open: AsyncDisposableStack = new AsyncDisposableStack();
beforeAll(async () => {
  world = await startWorld({ users: 4, relayers: 4 });
});
afterAll(async () => {
  await open.disposeAsync();
  await world?.[Symbol.asyncDispose]();
});

/** One of the relayers, with nodes that behave so from the start, and requests that are for it alone. */
async function start(index: number, plans: readonly RpcFaultPlan[]) {
  const proxies = await Promise.all(plans.map((plan) => startRpcFaultProxy({ target: world.devnet.rpcUrl, plan })));
  for (const proxy of proxies) open.use(proxy);
  const chainName = `chain-of-${index}`;
  const env = world.relayerEnv(index, proxies.map(({ url }) => url).join(','));
  const relayer = await startProgram('relayer', { env: { ...env, CHAIN_NAME: chainName } });
  open.defer(() => relayer.kill());
  const params = await signWrite(world.deployment, world.users[index]!, {
    ...{ dataId: numberToHex(1, { size: 32 }), payload: '0xabcd', relayerFee: FEE, nonce: 1n },
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
  });
  const { requestId } = await world.client.submitRequest({ chainName, action: 'WRITE_DATA_FOR', params });
  return { relayer, requestId, proxies };
}

const waitFor = (requestId: string) =>
  world.client.waitForRequest(requestId, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });

// Shows NODE-3 and RELAY-20.
test.concurrent.for<[string, number, readonly RpcFaultPlan[]]>([
  ['is of another chain', 0, [isOfAnotherChain, WELL]],
  ['is silent', 1, [isSilent, WELL]],
  ['lags with a fresh time, beside two others,', 2, [createLag(), WELL, WELL]],
])('a relayer whose first node %s from the start serves', async ([, index, plans], { expect }) => {
  const { relayer, requestId } = await start(index, plans);
  expect(await waitFor(requestId)).toMatchObject({ status: 'success' });
  expect(await readHealth(relayer)).toBe('ok\n');
  await relayer.kill();
});

// Shows RELAY-20.
test.concurrent('with two nodes of which one lags and lies, nothing ends, and the health says which says what', async ({
  expect,
}) => {
  const { relayer, requestId, proxies } = await start(3, [WELL, createLag()]);
  const health = () => readHealth(relayer);
  await expect
    .poll(health, { timeout: PATIENCE_MS })
    .toMatch(
      /node 1 of RPC_URL says that it is mined in block \d+ .*; node 2 of RPC_URL says that its newest block is/,
    );
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'processing' });
  proxies[1]!.setPlan(WELL);
  expect(await waitFor(requestId)).toMatchObject({ status: 'success' });
  await expect.poll(health, { timeout: PATIENCE_MS }).toBe('ok\n');
  await relayer.kill();
});
