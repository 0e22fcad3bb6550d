import { numberToHex } from 'viem';
import { expect, it } from 'vitest';
import { GWEI, relayer, sign, somebody, startChain, startDeployedChain } from '../chain.rig.ts';
import { lies } from '../lies.ts';

async function start() {
  const chain = await startChain();
  const [good, bad] = [chain.createNode({ name: 'good' }), chain.createNode({ name: 'bad' })];
  return { chain, good, bad };
}

it('answers calls and batches as JSON-RPC has it', async () => {
  const { good } = await start();
  const call = { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] };
  expect(await good.handle(call)).toEqual({ jsonrpc: '2.0', id: 7, result: '0x7a69' });
  expect(JSON.parse(await good.handleText(JSON.stringify([call, { ...call, id: 8, method: 'eth_x' }])))).toEqual([
    { jsonrpc: '2.0', id: 7, result: '0x7a69' },
    { jsonrpc: '2.0', id: 8, error: { code: -32_601, message: 'the method eth_x does not exist/is not available' } },
  ]);
  expect(await good.handle('{')).toMatchObject({ error: { code: -32_700 } });
  expect(await good.handle({ id: 1 })).toMatchObject({ id: 1, error: { code: -32_600 } });
  expect(await good.handle([])).toMatchObject({ error: { code: -32_600 } });
  expect(await good.handle({ ...call, method: 'eth_getBalance', params: ['0x12', 'latest'] })).toMatchObject({
    error: { code: -32_602, message: 'invalid argument 0: hex string has length 2, want 40 for common.Address' },
  });
  expect(await good.handle({ ...call, method: 'eth_getBalance' })).toMatchObject({
    error: { code: -32_602, message: 'missing value for required argument 0' },
  });
});

it('lags by blocks and by time, stands still, and is healed', async () => {
  let now = 1_800_000_000;
  const chain = await startChain({ nowSeconds: () => now });
  const [good, bad] = [chain.createNode({ name: 'good' }), chain.createNode({ name: 'bad' })];
  const raw = await sign(relayer, { nonce: 0 });
  const hash = await good.request('eth_sendRawTransaction', [raw]);
  for (let count = 0; count < 5; count++) {
    now += 12;
    await chain.mine({ timestampSeconds: now });
  }
  bad.faults.lagBlocks = 5;
  expect(await bad.request('eth_blockNumber')).toBe('0x0');
  expect(await bad.request('eth_getTransactionReceipt', [hash])).toBeNull();
  expect(await bad.request('eth_getTransactionCount', [relayer.address, 'latest'])).toBe('0x0');
  expect(await bad.request('eth_getBlockByNumber', ['0x1', false])).toBeNull();
  // In its own pool, which follows its own head, the transaction waits.
  expect(await bad.request('eth_getTransactionByHash', [hash])).toMatchObject({ hash, blockHash: null });
  expect(await bad.request('eth_getTransactionCount', [relayer.address, 'pending'])).toBe('0x1');
  expect(await bad.request('eth_getBlockByNumber', ['pending', false])).toMatchObject({ transactions: [hash] });
  expect(await bad.request('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' });
  Object.assign(bad.faults, { lagBlocks: 0, lagSeconds: 30 });
  expect(bad.headNumber()).toBe(2);
  bad.faults.isHeadStuck = true;
  now += 600;
  await chain.mine();
  expect(bad.headNumber()).toBe(2);
  bad.heal();
  expect(bad.headNumber()).toBe(6);
  expect(bad.faults).toMatchObject({ lagSeconds: 0, isHeadStuck: false });
});

it('has the finalized block two epochs back', async () => {
  const { chain, good } = await start();
  const number = async (tag: string) => Object(await good.request('eth_getBlockByNumber', [tag, false])).number;
  for (let count = 0; count < 70; count++) await chain.mine();
  expect([await number('finalized'), await number('safe'), await number('earliest')]).toEqual(['0x6', '0x26', '0x0']);
});

it('keeps a transaction to itself, or forgets it, or does not show what waits', async () => {
  const { chain, good, bad } = await start();
  const raw = await sign(relayer, { nonce: 0 });
  bad.faults.broadcast = 'forget';
  const hash = await bad.request('eth_sendRawTransaction', [raw]);
  expect(await bad.request('eth_getTransactionByHash', [hash])).toBeNull();
  bad.faults.broadcast = 'keep';
  await bad.request('eth_sendRawTransaction', [raw]);
  expect(await bad.request('eth_getTransactionByHash', [hash])).toMatchObject({ hash, blockHash: null });
  expect(await good.request('eth_getTransactionByHash', [hash])).toBeNull();
  expect(await bad.request('eth_getTransactionCount', [relayer.address, 'pending'])).toBe('0x1');
  expect((await chain.mine()).transactions).toHaveLength(0);
  bad.heal();
  const third = chain.createNode({ name: 'third' });
  third.faults.poolView = 'own';
  expect(await third.request('eth_getTransactionByHash', [hash])).toBeNull();
  expect(await good.request('eth_getTransactionByHash', [hash])).toMatchObject({ hash });
});

it('limits calls, forgets old states, and does not know methods', async () => {
  const { chain, bad } = await start();
  for (let count = 0; count < 5; count++) await chain.mine();
  bad.faults.stateDepth = 2;
  const balance = (block: string) => bad.request('eth_getBalance', [relayer.address, block]);
  expect(await balance('0x4')).toMatch(/^0x/);
  await expect(balance('0x3')).rejects.toMatchObject({ code: -32_000, message: /^missing trie node/ });
  bad.faults.unknownMethods = new Set(['eth_simulateV1']);
  await expect(bad.request('eth_simulateV1', [{}, 'latest'])).rejects.toMatchObject({ code: -32_601 });
  bad.faults.maxLogBlocks = 3;
  await expect(bad.request('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3' }])).rejects.toMatchObject({
    code: -32_000,
  });
  bad.faults.rateLimit = 'json';
  await expect(bad.request('eth_blockNumber')).rejects.toMatchObject({ code: -32_005 });
});

it('withholds logs, but not from receipts', async () => {
  const { chain, deployment } = await startDeployedChain();
  const bad = chain.createNode({ name: 'bad' });
  const query = [{ address: deployment.forwarder, fromBlock: '0x0' }];
  const all = (await bad.request('eth_getLogs', query)) as { transactionHash: string }[];
  expect(all).not.toHaveLength(0);
  bad.faults.withholdsLog = () => true;
  expect(await bad.request('eth_getLogs', query)).toEqual([]);
  const receipt = await bad.request('eth_getTransactionReceipt', [all[0]?.transactionHash]);
  expect(Object(receipt).logs).not.toHaveLength(0);
});

it('lies about what it is told to lie about, and others do not', async () => {
  const { chain, good, bad } = await start();
  const hash = await good.request('eth_sendRawTransaction', [await sign(relayer, { nonce: 0, fee: 9n * GWEI })]);
  await chain.mine();
  bad.faults.lie = lies.all(
    lies.flipReceiptStatus(),
    lies.balance(5n, relayer.address),
    lies.accountNonce(9),
    lies.call('0x1234', somebody.address),
    lies.head(100),
  );
  const say = (node: typeof good) =>
    Promise.all([
      node.request('eth_getTransactionReceipt', [hash]).then((receipt) => Object(receipt).status),
      node.request('eth_getBalance', [relayer.address, 'latest']).then((wei) => wei === '0x5'),
      node.request('eth_getTransactionCount', [relayer.address, 'latest']),
      node.request('eth_call', [{ to: somebody.address }, 'latest']),
      node.request('eth_blockNumber'),
    ]);
  expect(await say(bad)).toEqual(['0x0', true, '0x9', '0x1234', '0x65']);
  expect(await say(good)).toEqual(['0x1', false, '0x1', '0x', '0x1']);
});

it('never mixes the states of calls that run side by side', async () => {
  const { chain, good } = await start();
  // Returns what is at slot 0 after adding one to it.
  const code = '0x5f54600101805f555f5260205ff3';
  const target = numberToHex(0x77, { size: 20 });
  const ask = (slot: number) =>
    good.request('eth_call', [
      { to: target },
      'latest',
      { [target]: { code, stateDiff: { [numberToHex(0, { size: 32 })]: numberToHex(slot, { size: 32 }) } } },
    ]);
  const slots = Array.from({ length: 50 }, (_, place) => place);
  const [answers] = await Promise.all([Promise.all(slots.map(ask)), chain.mine(), chain.mine()]);
  expect(answers).toEqual(slots.map((slot) => numberToHex(slot + 1, { size: 32 })));
});
