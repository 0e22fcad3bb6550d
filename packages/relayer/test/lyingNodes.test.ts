import { type RpcFaultPlan, startRpcFaultProxy } from '@prism-gateway/testing';
import { PATIENCE_MS } from '@prism-gateway/testing/patience';
import { signWrite, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHealth } from './readHealth.ts';

const says =
  (method: string, result: unknown): RpcFaultPlan =>
  (asked) =>
    asked === method ? { kind: 'answer', result } : undefined;

let world: World;
const open = new AsyncDisposableStack();
beforeAll(async () => {
  world = open.use(await startWorld({ users: 6, relayers: 5 }));
});
afterAll(() => open.disposeAsync());

/** A relayer whose first node begins to lie once it works, beside some that do not. */
async function start(index: number, { lie, honest }: { readonly lie: RpcFaultPlan; readonly honest: number }) {
  const { rpcUrl } = world.devnet;
  const proxies = await Promise.all(Array.from({ length: honest + 1 }, () => startRpcFaultProxy({ target: rpcUrl })));
  for (const proxy of proxies) open.use(proxy);
  const chainName = `chain-of-${index}`;
  const env = world.relayerEnv(index, proxies.map(({ url }) => url).join(','));
  const relayer = await startProgram('relayer', { env: { ...env, CHAIN_NAME: chainName } });
  open.defer(() => relayer.kill());
  // A slow machine has it started before it has seen the chain.
  await expect
    .poll(() => relayer.output.some((line) => line.includes('"working"')), { timeout: PATIENCE_MS })
    .toBe(true);
  proxies[0]!.setPlan(lie);
  return { relayer, chainName, liar: proxies[0]!, witness: proxies[1]! };
}

/** Posts a user's write for one relayer. @param v - of the signature, in the place of the true one @returns its id */
async function post({ chainName }: { readonly chainName: string }, user: number, nonce: bigint, v?: number) {
  const params = await signWrite(world.deployment, world.users[user]!, {
    ...{ dataId: numberToHex(nonce, { size: 32 }), payload: '0xabcd', relayerFee: 3000n * 10n ** 18n, nonce },
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 5),
  });
  const signed = { ...params, ...(v !== undefined && { v }) };
  return (await world.client.submitRequest({ chainName, action: 'WRITE_DATA_FOR', params: signed })).requestId;
}

async function write(works: { readonly chainName: string }, user: number, nonce: bigint) {
  const requestId = await post(works, user, nonce);
  return await world.client.waitForRequest(requestId, { timeoutMs: PATIENCE_MS, pollIntervalMs: 50 });
}

// Shows NODE-4 and RELAY-24.
test.concurrent('of two nodes one that makes up an account nonce holds nothing up; health, status and log name it', async ({
  expect,
}) => {
  const works = await start(0, { lie: says('eth_getTransactionCount', '0x1f4'), honest: 1 });
  expect(await write(works, 0, 1n)).toMatchObject({ status: 'success' });
  const told =
    /^ok\n.*: of the account nonce, node 1 of RPC_URL says that 0x\w{40} has made 500 transactions, where there are \d+;/;
  await expect.poll(() => readHealth(works.relayer), { timeout: PATIENCE_MS }).toMatch(told);
  expect(await write(works, 0, 2n)).toMatchObject({ status: 'success' });
  // A process with metrics has a page of its status.
  const status = await (await fetch(`${works.relayer.url}/status`)).json();
  expect(status).toMatchObject({
    faults: [],
    warnings: [expect.stringContaining('node 1 of RPC_URL')],
    chains: [
      { outvotedNodes: [{ node: 'node 1 of RPC_URL', says: expect.stringContaining('made 500 transactions') }] },
    ],
  });
  const count = (node: string) =>
    works.relayer.readMetric('prism_relayer_outvoted_nodes_total', `node="${node} of RPC_URL"`);
  expect(await count('node 1')).toBeGreaterThan(0);
  expect(await count('node 2')).toBe(0);
  expect(works.relayer.output.some((line) => /"node":"node 1 of RPC_URL","says":.*is alone with that/.test(line))).toBe(
    true,
  );
});

// Shows NODE-4.
test.concurrent.for<[string, number, number, RpcFaultPlan]>([
  ['knows of no transactions', 1, 1, says('eth_getTransactionCount', '0x0')],
  ['says that there is nothing to pay with', 2, 1, says('eth_getBalance', '0x0')],
  ['shows no receipt, beside two others,', 3, 2, says('eth_getTransactionReceipt', null)],
])('a node that %s holds nothing up', async ([, index, honest, lie], { expect }) => {
  const works = await start(index, { lie, honest });
  for (const nonce of [1n, 2n]) expect(await write(works, index, nonce)).toMatchObject({ status: 'success' });
  expect(await readHealth(works.relayer)).toMatch(/^ok\n/);
});

// Shows NODE-5 and RELAY-15.
test.concurrent('what one of two nodes says would be carried out, and the other that it would revert, is not sent', async ({
  expect,
}) => {
  const carriedOut: RpcFaultPlan = (method) => {
    if (method !== 'eth_simulateV1') return undefined;
    const agree = (call: unknown) => ({ ...Object(call), status: '0x1', returnData: '0x', error: undefined });
    // An array of blocks, each with its calls.
    const change = (blocks: unknown) =>
      (blocks as { calls: unknown[] }[]).map((block) => ({ ...block, calls: block.calls.map(agree) }));
    return { kind: 'change', change };
  };
  const works = await start(4, { lie: carriedOut, honest: 1 });
  // Its signature is of nobody.
  const forged = await post(works, 4, 1n, 99);
  const rehearsals = () => works.witness.counts.get('eth_simulateV1') ?? 0;
  await expect.poll(rehearsals, { timeout: PATIENCE_MS }).toBeGreaterThan(2);
  expect(works.witness.counts.get('eth_sendRawTransaction')).toBeUndefined();
  expect((await world.client.getRequest(forged)).status).not.toBe('success');
  // It holds nobody else up.
  expect(await write(works, 5, 1n)).toMatchObject({ status: 'success' });
});
