import { type RpcFaultProxy, startRpcFaultProxy } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { markedCall, type SenderRig, startSenderRig } from './rigs/createSenderRig.ts';

let rig: SenderRig;
let proxy: RpcFaultProxy;
beforeEach(async () => {
  rig = await startSenderRig();
  proxy = await startRpcFaultProxy({ target: rig.anvil.rpcUrl });
});
afterEach(async () => {
  await rig.dispose();
  await proxy.stop();
});

/** Calls made to the node while something is done. */
async function callsOf(act: () => Promise<unknown>): Promise<number> {
  const before = proxy.total();
  await act();
  return proxy.total() - before;
}

const open = () => rig.open({ rpcUrl: proxy.url, pollIntervalMs: 3000 });

test('a transaction with a gas limit costs two calls, the first one four more', async () => {
  const sender = await open();
  // Head, tip and its history, balance, broadcast, receipt; a receipt that is asked for too early costs one more.
  expect(await callsOf(() => sender.send('first', markedCall('first')))).toBeLessThanOrEqual(7);
  expect(await callsOf(() => sender.send('second', markedCall('second')))).toBeLessThanOrEqual(3);
});

test('one confirmation and then two, as a payment needs them, cost eight calls at most', async () => {
  const sender = await open();
  await sender.send('warm', markedCall('warm'));
  const calls = await callsOf(async () => {
    await sender.send('buy', { ...markedCall('buy'), gasLimit: 60_000n });
    const { to, data, value = 0n } = markedCall('transfer');
    rig.events.length = 0;
    const sending = sender.send('transfer', { to, data, value }, { confirmations: 2 });
    await rig.seen('mined');
    await rig.anvil.rpc('evm_mine');
    await sending;
  });
  // Broadcast, receipt; estimate, broadcast, receipt, head; two looks that come too early. The heads show that the receipt holds.
  expect(calls).toBeLessThanOrEqual(8);
});

test('while the head stays the same, little else is asked for', async () => {
  const sender = await rig.open({ rpcUrl: proxy.url, pollIntervalMs: 5 });
  const deep = sender.send('deep', markedCall('deep'), { confirmations: 2 });
  await rig.seen('mined');
  await rig.anvil.rpc('evm_setAutomine', [false]);
  rig.events.length = 0;
  const waiting = sender.send('waiting', markedCall('waiting'));
  await rig.seen('broadcast');
  const looks = await new Promise<{ heads: number; others: number }>((resolve) => {
    const counts = { heads: 0, others: 0 };
    proxy.setPlan((method) => {
      if (method !== 'eth_getBlockByNumber') counts.others++;
      else if (++counts.heads === 40) resolve(counts);
      return undefined;
    });
  });
  expect(looks.others).toBeLessThanOrEqual(12);
  await rig.anvil.rpc('evm_mine');
  await Promise.all([deep, waiting]);
});

test('many at once share the polling', async () => {
  const sender = await rig.open({ rpcUrl: proxy.url, pollIntervalMs: 3000, maxInFlight: 100 });
  const ids = Array.from({ length: 100 }, (_, i) => `many-${i}`);
  // One block has them all, however slow the machine is: else some receipts are asked for too early.
  await rig.anvil.rpc('evm_setAutomine', [false]);
  // A node knows the account's nonce a moment before the receipts, which are then asked for twice.
  proxy.setPlan((method) => (method === 'eth_getTransactionCount' ? { kind: 'answer', result: '0x0' } : undefined));
  rig.events.length = 0;
  const sending = Promise.all(ids.map((id) => sender.send(id, markedCall(id))));
  const broadcast = () => rig.events.filter(({ type }) => type === 'broadcast').length;
  await expect.poll(broadcast, { timeout: 60_000 }).toBe(ids.length);
  await rig.anvil.rpc('evm_mine');
  proxy.setPlan(() => undefined);
  await sending;
  // A slow machine looks at the head for longer, and sends again what is not mined for long.
  const {
    eth_sendRawTransaction: _sent,
    eth_getBlockByNumber: _heads,
    eth_getTransactionReceipt: receipts,
    ...others
  } = Object.fromEntries(proxy.counts);
  expect(receipts).toBeLessThanOrEqual(1.1 * ids.length);
  expect(Object.values(others).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20);
});

test('nothing is asked while nothing is in flight', async () => {
  const sender = await rig.open({ rpcUrl: proxy.url, pollIntervalMs: 1 });
  await sender.send('one', markedCall('one'));
  const idle = await callsOf(() => new Promise((resolve) => setTimeout(resolve, 100)));
  expect(idle).toBe(0);
});
