import type { RpcFaultPlan } from '@prism-gateway/testing';
import { startWorld, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LONG, post, readHealth, sign, startBehind, waitFor } from './rig.ts';

const WELL: RpcFaultPlan = () => undefined;
const says =
  (method: string, result: unknown): RpcFaultPlan =>
  (asked) =>
    asked === method ? { kind: 'answer', result } : undefined;
const isOfAnotherChain = says('eth_chainId', '0x1');
const isSilent: RpcFaultPlan = () => ({ kind: 'stallBefore' });

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

/** Changes what comes of each simulated call, and is well in all else. */
const simulates =
  (outcome: object): RpcFaultPlan =>
  (method) => {
    if (method !== 'eth_simulateV1') return undefined;
    const lie = (call: unknown) => ({ ...Object(call), ...outcome });
    // An array of blocks, each with its calls.
    const change = (blocks: unknown) =>
      (blocks as { calls: unknown[] }[]).map((block) => ({ ...block, calls: block.calls.map(lie) }));
    return { kind: 'change', change };
  };
const REVERTED = { code: 3, message: 'execution reverted', data: '0x' };
const reverts = simulates({ status: '0x0', returnData: '0x', error: REVERTED });
const carriesOut = simulates({ status: '0x1', returnData: '0x', error: undefined });

let world: World;
const open = new AsyncDisposableStack();
beforeAll(async () => {
  world = open.use(await startWorld({ users: 12, relayers: 11 }));
});
afterAll(() => open.disposeAsync());

/** A relayer whose first node behaves so from the start, beside some others, and a user's write that is for it alone. */
async function startWithWrite(index: number, plans: readonly RpcFaultPlan[], env: Record<string, string> = {}) {
  const works = await startBehind(world, open, { index, plans, env });
  return { ...works, requestId: await post(world, { user: index, chainName: works.chainName }) };
}

/** A relayer whose first node begins to lie once it works, beside some that do not. */
async function startThenLie(index: number, { lie, honest }: { readonly lie: RpcFaultPlan; readonly honest: number }) {
  const works = await startBehind(world, open, { index, plans: Array.from({ length: honest + 1 }, () => WELL) });
  // A slow machine has it started before it has seen the chain.
  const isWorking = () => works.relayer.output.some((line) => line.includes('"working"'));
  await vi.waitFor(() => expect(isWorking()).toBe(true), LONG);
  works.proxies[0]!.setPlan(lie);
  return { ...works, second: works.proxies[1]! };
}

const write = async (user: number, nonce: bigint, { chainName }: { readonly chainName: string }) =>
  await waitFor(world, await post(world, { user, nonce, chainName }));

// Shows NODE-3 and RELAY-20.
test.concurrent.for<[string, number, readonly RpcFaultPlan[], RegExp]>([
  ['is of another chain', 0, [isOfAnotherChain, WELL], /^ok\n.*: node 1 of RPC_URL is left out: .* start again\.\n$/],
  ['is silent', 1, [isSilent, WELL], /^ok\n$/],
  ['lags with a fresh time, beside two others,', 2, [createLag(), WELL, WELL], /^ok\n$/],
])('a relayer whose first node %s from the start serves', async ([, index, plans, health], { expect }) => {
  const { relayer, requestId } = await startWithWrite(index, plans);
  expect(await waitFor(world, requestId)).toMatchObject({ status: 'success' });
  // A slow machine has the node answer later than the others.
  await expect.poll(() => readHealth(relayer), LONG).toMatch(health);
  await relayer.kill();
});

// Shows RELAY-20.
test.concurrent('with two nodes of which one lags and lies, nothing ends, and the health says which says what', async ({
  expect,
}) => {
  const { relayer, requestId, proxies } = await startWithWrite(3, [WELL, createLag()]);
  const health = () => readHealth(relayer);
  const reported =
    /node 1 of RPC_URL says that it is mined in block \d+ .*; node 2 of RPC_URL says that its newest block is/;
  await expect.poll(health, LONG).toMatch(reported);
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'processing' });
  proxies[1]!.setPlan(WELL);
  expect(await waitFor(world, requestId)).toMatchObject({ status: 'success' });
  await expect.poll(health, LONG).toBe('ok\n');
  await relayer.kill();
});

// Shows RELAY-20.
test.concurrent('of three nodes one that lies in simulations ends no request, and is asked no more', async ({
  expect,
}) => {
  const { relayer, requestId } = await startWithWrite(4, [reverts, WELL, WELL], { GIVE_UP_SECONDS: '0' });
  expect(await waitFor(world, requestId)).toMatchObject({ status: 'success' });
  const reported = /"node":"node 1 of RPC_URL","says":"that it would revert: .*is alone with that/;
  expect(relayer.output.some((line) => reported.test(line))).toBe(true);
  await relayer.kill();
});

// Shows RELAY-20.
test.concurrent('of two nodes one that lies in simulations ends no request; the health says which says what', async ({
  expect,
}) => {
  const { relayer, requestId, proxies } = await startWithWrite(5, [reverts, WELL], { GIVE_UP_SECONDS: '0' });
  await expect
    .poll(() => readHealth(relayer), LONG)
    .toMatch(/node 1 of RPC_URL says that it would revert: .*; node 2 of RPC_URL says that it would be carried out;/);
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'processing' });
  proxies[0]!.setPlan(WELL);
  expect(await waitFor(world, requestId)).toMatchObject({ status: 'success' });
  await relayer.kill();
});

// Shows NODE-4 and RELAY-24.
test.concurrent('of two nodes one that makes up an account nonce holds nothing up; health, status and log name it', async ({
  expect,
}) => {
  const works = await startThenLie(6, { lie: says('eth_getTransactionCount', '0x1f4'), honest: 1 });
  expect(await write(6, 1n, works)).toMatchObject({ status: 'success' });
  const reported =
    /^ok\n.*: of the account nonce, node 1 of RPC_URL says that 0x\w{40} has made 500 transactions, where there are \d+;/;
  await expect.poll(() => readHealth(works.relayer), LONG).toMatch(reported);
  expect(await write(6, 2n, works)).toMatchObject({ status: 'success' });
  // A process with metrics has a page of its status.
  const status = await (await fetch(`${works.relayer.url}/status`)).json();
  const says500 = { node: 'node 1 of RPC_URL', says: expect.stringContaining('made 500 transactions') };
  expect(status).toMatchObject({
    faults: [],
    warnings: [expect.stringContaining('node 1 of RPC_URL')],
    chains: [{ outlierNodes: [says500] }],
  });
  const count = (node: string) =>
    works.relayer.readMetric('prism_relayer_outlier_nodes_total', `node="${node} of RPC_URL"`);
  expect(await count('node 1')).toBeGreaterThan(0);
  expect(await count('node 2')).toBe(0);
  const logged = /"node":"node 1 of RPC_URL","says":.*is alone with that/;
  expect(works.relayer.output.some((line) => logged.test(line))).toBe(true);
  await works.relayer.kill();
});

// Shows NODE-4.
test.concurrent.for<[string, number, number, RpcFaultPlan]>([
  ['knows of no transactions', 7, 1, says('eth_getTransactionCount', '0x0')],
  ['says that there is nothing to pay with', 8, 1, says('eth_getBalance', '0x0')],
  ['shows no receipt, beside two others,', 9, 2, says('eth_getTransactionReceipt', null)],
])('a node that %s holds nothing up', async ([, index, honest, lie], { expect }) => {
  const works = await startThenLie(index, { lie, honest });
  for (const nonce of [1n, 2n]) expect(await write(index, nonce, works)).toMatchObject({ status: 'success' });
  expect(await readHealth(works.relayer)).toMatch(/^ok\n/);
  await works.relayer.kill();
});

// Shows NODE-5 and RELAY-15.
test.concurrent('what one of two nodes says would be carried out, and the other that it would revert, is not sent', async ({
  expect,
}) => {
  const { second, chainName, relayer } = await startThenLie(10, { lie: carriesOut, honest: 1 });
  // Its signature is of nobody.
  const params = { ...(await sign(world, { user: 10 })), v: 99 };
  const forged = await world.client.submitRequest({ chainName, action: 'WRITE_DATA_FOR', params });
  const plans = () => second.counts.get('eth_simulateV1') ?? 0;
  await expect.poll(plans, LONG).toBeGreaterThan(2);
  expect(second.counts.get('eth_sendRawTransaction')).toBeUndefined();
  expect((await world.client.getRequest(forged.requestId)).status).not.toBe('success');
  // It holds nobody else up.
  expect(await write(11, 1n, { chainName })).toMatchObject({ status: 'success' });
  await relayer.kill();
});
