import { forwarderAbi, readRequestExecuted } from '@prism-gateway/contracts';
import { createPublicClient, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import { expect, it } from 'vitest';
import {
  connect,
  createRandom,
  encodeWrite,
  GWEI,
  relayer,
  sign,
  somebody,
  startChain,
  startDeployedChain,
} from './chain.rig.ts';
import { createNodeTransport } from './index.ts';

async function live(seed: number): Promise<readonly string[]> {
  const world = await startDeployedChain(2, { random: createRandom(seed) });
  for (const [nonce, user] of world.prisms.entries()) {
    const data = await encodeWrite(world, user, 1n);
    await world.node.request('eth_sendRawTransaction', [
      await sign(relayer, { nonce, to: world.deployment.forwarder, data, gas: 500_000n }),
    ]);
  }
  await world.chain.mine();
  await world.chain.reorganise({ depth: 1 });
  return Array.from({ length: world.chain.head().number + 1 }, (_, number) => world.chain.block(number)?.hash ?? '');
}

it('gives the same blocks for the same seed and calls', async () => {
  const [first, again, other] = [await live(1), await live(1), await live(2)];
  expect(again).toEqual(first);
  expect(other.at(-1)).not.toBe(first.at(-1));
});

it('carries a write out, and tells of it as a node does', async () => {
  const world = await startDeployedChain();
  const { chain, deployment, node, prisms } = world;
  const [user] = prisms;
  const data = await encodeWrite(world, user!, 1n);
  const call = { from: relayer.address, to: deployment.forwarder, data };
  const gas = BigInt(`${await node.request('eth_estimateGas', [call])}`);
  const hash = (await node.request('eth_sendRawTransaction', [
    await sign(relayer, { nonce: 0, to: deployment.forwarder, data, gas }),
  ])) as Hex;
  expect(await node.request('eth_getTransactionReceipt', [hash])).toBeNull();
  const block = await chain.mine();
  const client = createPublicClient({ transport: createNodeTransport(node) });
  const receipt = await client.getTransactionReceipt({ hash });
  expect(receipt).toMatchObject({ status: 'success', blockHash: block.hash });
  const [event] = readRequestExecuted({ logs: receipt.logs, forwarder: deployment.forwarder });
  expect(event).toMatchObject({ success: true, nonce: 1n, relayer: relayer.address });
  const logs = await client.getLogs({ address: deployment.forwarder, fromBlock: 0n });
  expect(logs.at(-1)?.transactionHash).toBe(hash);
  const nonces = encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [user!.account.address] });
  const readNonce = async (blockNumber: bigint) => {
    const { data: word = '0x' } = await client.call({ to: deployment.forwarder, data: nonces, blockNumber });
    return decodeFunctionResult({ abi: forwarderAbi, functionName: 'nonces', data: word });
  };
  expect(await readNonce(BigInt(block.number))).toBe(2n);
  expect(await readNonce(BigInt(block.number - 1))).toBe(1n);
  // The second time the same signature reverts, with the contract's own error.
  await expect(node.request('eth_call', [call, 'latest'])).rejects.toMatchObject({
    code: 3,
    message: 'execution reverted',
  });
});

it('moves the base fee as the protocol does', async () => {
  const chain = await startChain({ baseFeePerGas: 8n * GWEI });
  expect((await chain.mine()).baseFeePerGas).toBe(8n * GWEI);
  await chain.mine({ market: { gasPerBlock: 30_000_000n } });
  expect((await chain.mine({ market: { gasPerBlock: 0n } })).baseFeePerGas).toBe(9n * GWEI);
  expect(chain.nextBaseFee()).toBe((9n * GWEI * 7n) / 8n);
  chain.setBaseFee(100n * GWEI);
  expect((await chain.mine()).baseFeePerGas).toBe(100n * GWEI);
  expect(chain.nextBaseFee()).toBe(100n * GWEI);
});

it('leaves a transaction waiting whose fee or tip is too low for the block', async () => {
  const chain = await startChain();
  const node = chain.createNode({ name: 'first' });
  const send = async (raw: Promise<Hex>) => await node.request('eth_sendRawTransaction', [await raw]);
  await send(sign(relayer, { nonce: 0, fee: 2n * GWEI }));
  chain.setBaseFee(3n * GWEI);
  expect((await chain.mine()).transactions).toHaveLength(0);
  await send(sign(somebody, { nonce: 0, fee: 9n * GWEI, tip: 1n }));
  const full = { gasPerBlock: 30_000_000n, tipPerGas: GWEI };
  chain.setBaseFee(GWEI);
  expect((await chain.mine({ market: full })).transactions.map(({ from }) => from)).toEqual([
    relayer.address.toLowerCase(),
  ]);
  expect((await chain.mine()).transactions).toHaveLength(1);
});

it('has an account run code by EIP-7702', async () => {
  const { chain, deployment } = await startDeployedChain();
  const wallet = connect(chain, somebody);
  const authorization = await wallet.signAuthorization({ contractAddress: deployment.stablecoin, executor: 'self' });
  await wallet.sendTransaction({
    authorizationList: [authorization],
    to: somebody.address,
    gas: 200_000n,
    data: '0x',
    chain: null,
  });
  await chain.mine();
  const code = await chain.createNode({ name: 'other' }).request('eth_getCode', [somebody.address, 'latest']);
  expect(code).toBe(`0xef0100${deployment.stablecoin.slice(2).toLowerCase()}`);
  expect(chain.nonce(somebody.address)).toBe(2);
});

it('takes blocks back, and keeps what was so on the other branch', async () => {
  const chain = await startChain();
  const node = chain.createNode({ name: 'first' });
  const stuck = chain.createNode({ name: 'stuck' });
  const raw = await sign(relayer, { nonce: 0, to: somebody.address, value: 5n });
  const hash = await node.request('eth_sendRawTransaction', [raw]);
  await chain.mine();
  await chain.mine();
  stuck.faults.isHeadStuck = true;
  const { removed, added, lost } = await chain.reorganise({
    depth: 2,
    blocks: [{ exclude: () => true }, { exclude: () => true }, {}],
  });
  expect([removed.length, added.length, lost]).toEqual([2, 3, []]);
  expect(added.map(({ transactions }) => transactions.length)).toEqual([0, 0, 1]);
  expect(await node.request('eth_getTransactionReceipt', [hash])).toMatchObject({ blockNumber: '0x3' });
  expect(await stuck.request('eth_getTransactionReceipt', [hash])).toMatchObject({ blockNumber: '0x1' });
  expect(await node.request('eth_getTransactionCount', [relayer.address, '0x1'])).toBe('0x0');
  expect(await stuck.request('eth_getTransactionCount', [relayer.address, '0x1'])).toBe('0x1');
  expect(await node.request('eth_getBlockByHash', [removed[0]!.hash, false])).toMatchObject({ number: '0x2' });
  const gone = await chain.reorganise({ depth: 1, isLost: () => true });
  expect(gone.lost).toEqual([hash]);
  expect(await node.request('eth_getTransactionByHash', [hash])).toBeNull();
  expect(chain.balance(somebody.address)).toBe(10_000n * 10n ** 18n);
});

it('takes thirty blocks back, but no ether given from without', async () => {
  const { chain, deployment, node } = await startDeployedChain();
  const before = chain.head();
  chain.fund(deployment.forwarder, 7n);
  for (let count = 0; count < 30; count++) await chain.mine();
  await chain.reorganise({ depth: 30 });
  expect(chain.head().number).toBe(before.number + 31);
  expect(chain.block(before.number)).toBe(before);
  expect(await node.request('eth_getCode', [deployment.forwarder, 'latest'])).toMatch(/^0x60/);
  expect(chain.balance(deployment.forwarder)).toBe(7n);
});
