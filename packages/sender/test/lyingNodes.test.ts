import {
  type Anvil,
  type RpcFaultPlan,
  type RpcFaultProxy,
  startAnvil,
  startRpcFaultProxy,
} from '@prism-gateway/testing';
import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sender, SenderOptions } from '../src/index.ts';
import { createSenderRig, markedCall, type SenderRig } from './rigs/createSenderRig.ts';
import { sendForeign } from './rigs/sendForeign.ts';

const WELL: RpcFaultPlan = () => undefined;
/** Makes up how many transactions the account has made, and how many wait. */
const lieOfCount =
  (count: number): RpcFaultPlan =>
  (method) =>
    method === 'eth_getTransactionCount' ? { kind: 'answer', result: numberToHex(count) } : undefined;

let anvil: Anvil;
let rig: SenderRig;
let proxies: readonly RpcFaultProxy[] = [];
beforeAll(async () => {
  anvil = await startAnvil();
  proxies = await Promise.all([0, 1, 2].map(() => startRpcFaultProxy({ target: anvil.rpcUrl })));
});
afterAll(async () => {
  await anvil?.stop();
  await Promise.all(proxies.map((proxy) => proxy.stop()));
});
beforeEach(async () => {
  rig = await createSenderRig(anvil);
});
afterEach(async () => {
  lie(WELL);
  await anvil.rpc('evm_setAutomine', [true]);
  await rig.dispose();
});

const open = (nodes: number, options: Partial<SenderOptions> = {}) =>
  rig.open({ rpcUrl: proxies.slice(0, nodes).map(({ url }) => url), whenKeyIsShared: 'reject', ...options });
const lie = (plan: RpcFaultPlan) => proxies[0]!.setPlan(plan);
const reported = (type: 'foreign' | 'outlier' | 'gapFilled') => rig.events.filter((event) => event.type === type);
async function sendAll(sender: Sender, names: readonly string[]) {
  const sent = await Promise.all(names.map((name) => sender.send(name, markedCall(name))));
  return sent.map(({ nonce }) => nonce).toSorted((one, other) => one - other);
}

// Shows NODE-4.
describe.each([2, 3])('of %i nodes', (nodes) => {
  test.each([
    ['higher', 500],
    ['nonsensically high', 10_000_000],
    ['lower', 0],
  ])(
    'one that says that the account nonce is %s holds nothing up, is named, and has nothing signed for it',
    async (_, count) => {
      const sender = await open(nodes);
      expect(await sendAll(sender, ['a', 'b'])).toEqual([0, 1]);
      lie(lieOfCount(count));
      await sender.checkKey();
      expect(sender.isHeld()).toBe(false);
      expect(reported('outlier')).toEqual([{ type: 'outlier', node: 0, count, agreed: 2 }]);
      expect(await sendAll(sender, ['c', 'd', 'e', 'f', 'g'])).toEqual([2, 3, 4, 5, 6]);
      expect([reported('foreign'), reported('gapFilled'), await rig.accountNonce()]).toEqual([[], [], 7]);
    },
  );

  test.each([
    ['higher', 500],
    ['lower', 0],
  ])(
    'one that says from the start that the account nonce is %s changes nothing of where it goes on',
    async (_, count) => {
      const first = await open(nodes);
      expect(await sendAll(first, ['a'])).toEqual([0]);
      await first.close();
      lie(lieOfCount(count));
      const second = await open(nodes);
      expect(await sendAll(second, ['b'])).toEqual([1]);
      expect([second.isHeld(), reported('foreign')]).toEqual([false, []]);
    },
  );

  test('one that shows no receipt holds nothing up', async () => {
    lie((method) => (method === 'eth_getTransactionReceipt' ? { kind: 'answer', result: null } : undefined));
    expect(await sendAll(await open(nodes), ['a', 'b', 'c'])).toEqual([0, 1, 2]);
  });

  test('one that has another first block ends nothing where the journal knows it', async () => {
    await (await open(nodes)).close();
    const other = (block: unknown) => ({ ...Object(block), hash: `0x${'ab'.repeat(32)}` });
    lie((method, _, [tag]) =>
      method === 'eth_getBlockByNumber' && tag === '0x0' ? { kind: 'change', change: other } : undefined,
    );
    expect(await sendAll(await open(nodes), ['a'])).toEqual([0]);
  });

  test('one that says that nothing is to be paid with does not have a transaction refused', async () => {
    lie((method) => (method === 'eth_getBalance' ? { kind: 'answer', result: '0x0' } : undefined));
    expect(await sendAll(await open(nodes), ['a'])).toEqual([0]);
  });
});

// Shows NODE-4 and SEND-12.
test('of two nodes the one counts that shows what the key has signed and nobody has mined, whatever the other says', async () => {
  await rig.anvil.rpc('evm_setAutomine', [false]);
  const sender = await open(2);
  await sendForeign(rig, 0);
  lie(lieOfCount(0));
  await sender.checkKey();
  expect([sender.isHeld(), reported('foreign')]).toEqual([true, [{ type: 'foreign', nonce: 0, count: 1 }]]);
  await rig.anvil.rpc('evm_mine');
  const isHeld = async () => {
    await sender.checkKey();
    return sender.isHeld();
  };
  await expect.poll(isHeld).toBe(false);
  await rig.anvil.rpc('evm_setAutomine', [true]);
  expect(await sendAll(sender, ['a'])).toEqual([1]);
});

// Shows NODE-4.
test('with an empty journal two nodes that differ are not chosen from, and three are', async () => {
  lie(lieOfCount(500));
  const opening = open(2, { nodeTimeoutMs: 100 });
  await expect(opening).rejects.toMatchObject({
    code: 'RPC_UNAVAILABLE',
    message: expect.stringContaining('one says that the account has made 500 transactions, the other 0'),
  });
  expect(await sendAll(await open(3), ['a'])).toEqual([0]);
});

// Shows SEND-1 and NODE-4.
test('no node can make up that somebody else has used an account nonce', async () => {
  await rig.anvil.rpc('evm_setAutomine', [false]);
  const sender = await open(2);
  const sending = sendAll(sender, ['a']);
  await rig.seen('broadcast');
  const forged = { from: rig.account.address, nonce: '0x0', hash: `0x${'cd'.repeat(32)}`, type: '0x2' };
  lie((method, _, params) => {
    if (method === 'eth_getTransactionCount') return { kind: 'answer', result: '0x1' };
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined;
    return { kind: 'change', change: (block) => ({ ...Object(block), transactions: [forged] }) };
  });
  const looks = () => proxies[0]!.counts.get('eth_getTransactionCount') ?? 0;
  const before = looks();
  await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(before + 5);
  expect(rig.events.some(({ type }) => type === 'displaced' || type === 'abandoned')).toBe(false);
  await rig.anvil.rpc('evm_mine');
  expect(await sending).toEqual([0]);
});
