import { type RpcFaultPlan, type RpcFaultProxy, startRpcFaultProxy } from '@prism-gateway/testing';
import { type Program, startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { type Hex, numberToHex, parseGwei } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect, LONG, post, waitFor } from './rig.ts';

const WELL: RpcFaultPlan = () => undefined;

let world: World;
let nodes: RpcFaultProxy[] = [];
let relayer: Program;
let relayers = 0;
let nonce = 0n;
beforeAll(async () => {
  world = await startWorld({ users: 1, relayers: 8 });
  nodes = await Promise.all([0, 1, 2].map(() => startRpcFaultProxy({ target: world.devnet.rpcUrl })));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await world?.[Symbol.asyncDispose]();
});
/** One that knows nothing of the nodes yet: which of them have lied is kept. */
async function startRelayer(rpc: readonly RpcFaultProxy[], env: Record<string, string> = {}): Promise<Program> {
  return await startProgram('relayer', {
    env: { ...world.relayerEnv(relayers++, rpc.map(({ url }) => url).join(',')), ...env },
  });
}

beforeEach(async () => {
  for (const node of nodes) node.setPlan(WELL);
  relayer = await startRelayer(nodes);
});
afterEach(() => relayer?.stop());

/** Posts the user's next write. @returns its id */
async function postNext(): Promise<string> {
  nonce += 1n;
  return await post(world, { user: 0, nonce });
}

/** Waits for a success, and looks whether the chain has it. */
async function expectSuccess(requestId: string): Promise<void> {
  const record = await waitFor(world, requestId);
  expect(record).toMatchObject({ status: 'success' });
  // A success has one.
  const receipt = await connect(world).getTransactionReceipt({ hash: record.txHash as Hex });
  expect(receipt).toMatchObject({ status: 'success', to: world.deployment.forwarder.toLowerCase() });
}

// Shows RELAY-20.
test('a node that makes receipts up ends no request: two nodes that agree do', async () => {
  const lie = (receipt: unknown) => (receipt === null ? null : { ...Object(receipt), status: '0x0', logs: [] });
  nodes[0]!.setPlan((method) => (method === 'eth_getTransactionReceipt' ? { kind: 'change', change: lie } : undefined));
  const isSeen = () => relayer.output.some((line) => line.includes('a node has made a receipt up'));
  // On a loaded machine another node may be the first to have a receipt.
  for (let posts = 0; posts < 10 && !isSeen(); posts++) await expectSuccess(await postNext());
  // It was asked, and was not believed.
  expect(isSeen()).toBe(true);
});

// Shows NODE-1.
test('a node that dies while a request waits is replaced by the next one, for sending, too', async () => {
  await expectSuccess(await postNext());
  const requestId = await postNext();
  nodes[0]!.setPlan(() => ({ kind: 'serverError' }));
  await expectSuccess(requestId);
  await expectSuccess(await postNext());
});

// Shows NODE-1.
test('a node that falls behind holds nothing up', async () => {
  await connect(world).mine({ blocks: 10 });
  nodes[0]!.setPlan(() => ({ kind: 'lag', blocks: 6 }));
  await expectSuccess(await postNext());
  await expectSuccess(await postNext());
});

// Shows RELAY-2.
test('a request that did not pay for a moment is taken as soon as gas costs what its fee pays', async () => {
  const chain = connect(world);
  const mineAt = async (baseFeePerGas: bigint) => {
    await chain.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await chain.mine({ blocks: 1 });
  };
  await mineAt(parseGwei('500'));
  await relayer.stop();
  relayer = await startRelayer(nodes);
  const requestId = await postNext();
  await expect.poll(() => relayer.readMetric('prism_relayer_checks_total', 'verdict="fee"'), LONG).toBeGreaterThan(0);
  await mineAt(parseGwei('1'));
  await expectSuccess(requestId);
});

// Shows RELAY-20.
test('of two nodes one that makes its newest block up ends no request before it is as deep as it has to be', async () => {
  await relayer.stop();
  const [liar, honest] = [nodes[0]!, nodes[1]!];
  relayer = await startRelayer([liar, honest], { CONFIRMATIONS: '3' });
  const ahead = (quantity: unknown) => numberToHex(BigInt(String(quantity)) + 100n);
  liar.setPlan((method, params) => {
    if (method === 'eth_blockNumber') return { kind: 'change', change: ahead };
    if (method !== 'eth_getBlockByNumber' || Object(params)[0] !== 'latest') return undefined;
    return { kind: 'change', change: (block) => ({ ...Object(block), number: ahead(Object(block).number) }) };
  });
  const countReceipts = () => liar.counts.get('eth_getTransactionReceipt') ?? 0;
  const before = countReceipts();
  const requestId = await postNext();
  // It says that the transaction is mined, and a hundred blocks deep; the other one knows of no such blocks.
  await expect.poll(countReceipts, LONG).toBeGreaterThan(before);
  expect(await world.client.getRequest(requestId)).toMatchObject({ status: 'processing' });
  await connect(world).mine({ blocks: 2 });
  await expectSuccess(requestId);
});
