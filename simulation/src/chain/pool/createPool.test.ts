import { numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { GWEI, relayer, sign, somebody, startChain } from '../chain.rig.ts';
import type { Chain, ChainOptions } from '../chain.ts';

type Transaction = Parameters<typeof sign>[1];

async function start(options: Partial<ChainOptions> = {}) {
  const chain: Chain = await startChain(options);
  const node = chain.createNode({ name: 'first' });
  const send = async (transaction: Transaction, account = relayer) =>
    await node.request('eth_sendRawTransaction', [await sign(account, transaction)]);
  const waiting = () => chain.pool.list().map(({ nonce, maxFeePerGas }) => [nonce, maxFeePerGas / GWEI]);
  const drops = () => chain.pool.dropped().map(({ transaction, reason }) => [transaction.nonce, reason]);
  return { chain, node, send, waiting, drops };
}

describe('says what geth says of a transaction', () => {
  const poor = privateKeyToAccount(numberToHex(55, { size: 32 }));
  it.each<[string, Transaction, typeof relayer, string]>([
    [
      'no funds',
      { nonce: 0 },
      poor,
      'insufficient funds for gas * price + value: balance 0, tx cost 63000000000000, overshot 63000000000000',
    ],
    ['little gas', { nonce: 0, gas: 20_999n }, relayer, 'intrinsic gas too low: gas 20999, minimum needed 21000'],
    ['no room in a block', { nonce: 0, gas: 30_000_001n }, relayer, 'exceeds block gas limit'],
    ['no tip', { nonce: 0, tip: 0n }, relayer, 'transaction underpriced: gas tip cap 0, minimum needed 1'],
    [
      'fees beyond the cap',
      { nonce: 0, fee: 10n ** 14n },
      relayer,
      'tx fee (2.10 ether) exceeds the configured cap (1.00 ether)',
    ],
  ])('%s', async (_, transaction, account, message) => {
    const { send } = await start();
    await expect(send(transaction, account)).rejects.toMatchObject({ code: -32_000, message });
  });

  it.each([
    ['0x', 'rlp: value size exceeds available input length'],
    ['0x02c0', 'rlp: value size exceeds available input length'],
    ['0x05c0', 'transaction type not supported'],
  ])('%s', async (raw, message) => {
    const { node } = await start();
    await expect(node.request('eth_sendRawTransaction', [raw])).rejects.toMatchObject({ code: -32_000, message });
  });

  it('a fee cap below what fills the pool, which also evicts', async () => {
    const { chain, send, drops } = await start();
    await send({ nonce: 0, fee: 3n * GWEI });
    chain.setMarket({ poolFloorPerGas: 4n * GWEI });
    await expect(send({ nonce: 1, fee: 3n * GWEI })).rejects.toMatchObject({ message: 'transaction underpriced' });
    await chain.mine({ maxTransactions: 0 });
    expect(drops()).toEqual([[0, 'evicted']]);
  });

  it('a signature for another chain', async () => {
    const { node } = await start();
    const raw = await relayer.signTransaction({ type: 'eip1559', chainId: 1, gas: 21_000n, maxFeePerGas: GWEI });
    await expect(node.request('eth_sendRawTransaction', [raw])).rejects.toMatchObject({ message: 'invalid sender' });
  });

  it('a used nonce, and bytes that it has', async () => {
    const { chain, send } = await start();
    await send({ nonce: 0 });
    await expect(send({ nonce: 0 })).rejects.toMatchObject({ message: 'already known' });
    await chain.mine();
    await expect(send({ nonce: 0 })).rejects.toMatchObject({ message: 'nonce too low: next nonce 1, tx nonce 0' });
  });
});

it('takes a replacement that offers a tenth more of both fees', async () => {
  const { send, waiting, drops } = await start();
  await send({ nonce: 0, fee: 20n * GWEI, tip: 10n * GWEI });
  const few = [
    [22n, 10n],
    [20n, 11n],
    [20n, 10n],
  ] as const;
  for (const [fee, tip] of few) {
    await expect(send({ nonce: 0, fee: fee * GWEI, tip: tip * GWEI, value: 1n })).rejects.toMatchObject({
      message: 'replacement transaction underpriced',
    });
  }
  await send({ nonce: 0, fee: 22n * GWEI, tip: 11n * GWEI });
  expect(waiting()).toEqual([[0, 22n]]);
  expect(drops()).toEqual([[0, 'replaced']]);
});

it('keeps what waits behind a gap, and bounds it', async () => {
  const { chain, node, send, drops } = await start({ pool: { accountQueue: 2 } });
  for (const nonce of [3, 1, 2]) await send({ nonce });
  expect(drops()).toEqual([[3, 'evicted']]);
  expect(await node.request('txpool_status')).toEqual({ pending: '0x0', queued: '0x2' });
  expect((await chain.mine()).transactions).toHaveLength(0);
  expect(await node.request('eth_getTransactionCount', [relayer.address, 'pending'])).toBe('0x0');
  await send({ nonce: 0 });
  expect(await node.request('eth_getTransactionCount', [relayer.address, 'pending'])).toBe('0x3');
  expect((await chain.mine()).transactions.map(({ nonce }) => nonce)).toEqual([0, 1, 2]);
});

it('drops what waits behind a gap for three hours', async () => {
  const { chain, send, drops } = await start();
  await send({ nonce: 1 });
  const now = chain.head().timestampSeconds;
  await chain.mine({ timestampSeconds: now + 10_800 });
  expect(drops()).toEqual([]);
  await chain.mine({ timestampSeconds: now + 10_801 });
  expect(drops()).toEqual([[1, 'expired']]);
});

it('makes room by dropping the cheapest', async () => {
  const { send, waiting, drops } = await start({ pool: { globalSlots: 2, globalQueue: 0 } });
  await send({ nonce: 0, fee: 9n * GWEI, tip: 2n * GWEI });
  await send({ nonce: 0, fee: 9n * GWEI, tip: 3n * GWEI }, somebody);
  await expect(send({ nonce: 1, fee: 9n * GWEI, tip: 2n * GWEI })).rejects.toMatchObject({
    message: 'transaction underpriced',
  });
  await send({ nonce: 1, fee: 8n * GWEI, tip: 4n * GWEI }, somebody);
  expect(drops()).toEqual([[0, 'evicted']]);
  expect(waiting()).toEqual([
    [0, 9n],
    [1, 8n],
  ]);
});

it('drops what can no longer be paid, and what the world wants gone', async () => {
  const { chain, send, drops } = await start();
  await send({ nonce: 0, to: somebody.address, value: 9_999n * 10n ** 18n });
  await expect(send({ nonce: 1, value: 2n * 10n ** 18n })).rejects.toMatchObject({ message: /queued cost/ });
  await send({ nonce: 1, value: 10n ** 17n });
  await send({ nonce: 0 }, somebody);
  expect(chain.pool.drop(({ from }) => from === somebody.address.toLowerCase())).toBe(1);
  await chain.mine({ maxTransactions: 1 });
  expect(chain.pool.list().map(({ nonce }) => nonce)).toEqual([1]);
  expect(drops()).toEqual([[0, 'command']]);
});

it('gives each block what pays best, in the order of nonces', async () => {
  const { chain, send } = await start();
  await send({ nonce: 0, fee: 9n * GWEI, tip: GWEI });
  await send({ nonce: 1, fee: 9n * GWEI, tip: 5n * GWEI });
  await send({ nonce: 0, fee: 9n * GWEI, tip: 3n * GWEI }, somebody);
  const names = (await chain.mine({ maxTransactions: 2 })).transactions.map(({ from, nonce }) => [
    from === somebody.address.toLowerCase() ? 'somebody' : 'relayer',
    nonce,
  ]);
  expect(names).toEqual([
    ['somebody', 0],
    ['relayer', 0],
  ]);
});
