import { type Anvil, type RpcFault, type RpcFaultProxy, startAnvil, startRpcFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSenderRig, markedCall, type SenderRig } from './rigs/createSenderRig.ts';

let anvil: Anvil;
let proxy: RpcFaultProxy;
let rig: SenderRig;
beforeAll(async () => {
  anvil = await startAnvil();
  proxy = await startRpcFaultProxy({ target: anvil.rpcUrl });
});
afterAll(async () => {
  await proxy.stop();
  await anvil.stop();
});
beforeEach(async () => {
  rig = await createSenderRig(anvil);
});
afterEach(async () => {
  proxy.setPlan(() => undefined);
  await rig.dispose();
});

const openBehindProxy = () => rig.open({ rpcUrl: proxy.url, rpcTimeoutMs: 200 });

/** Sets the faults of the next `times` calls of a method. */
function befall(method: string, faults: readonly RpcFault[]): void {
  const left = [...faults];
  proxy.setPlan((called) => (called === method ? left.shift() : undefined));
}

const FAULTS: readonly RpcFault[] = [
  { kind: 'dropBefore' },
  { kind: 'dropAfter' },
  { kind: 'stallBefore' },
  { kind: 'stallAfter' },
  { kind: 'rateLimit' },
  { kind: 'serverError' },
  { kind: 'serverErrorAfter' },
  { kind: 'garbage' },
  { kind: 'wrongId' },
  { kind: 'answer', result: null },
  { kind: 'answer', result: 'moon' },
  { kind: 'answer', result: { hash: 7 } },
  { kind: 'answer', result: `0x${'00'.repeat(32)}` },
  { kind: 'answer', result: [[]] },
  { kind: 'error', code: -32_603, message: 'internal error' },
  { kind: 'error', code: -32_005, message: 'limit exceeded' },
];

/** The small size takes each fault for one of the methods. */
const EVERY = sized({ small: 4, long: 1 });

describe('an intent is mined once, and its outcome is true, when', () => {
  test.each(FAULTS)('$kind befalls its broadcast', async (fault) => {
    const sender = await openBehindProxy();
    befall('eth_sendRawTransaction', [fault]);
    const sent = await sender.send('a', markedCall(rig.account.address));
    expect(await anvil.rpc('eth_getTransactionReceipt', [sent.txHash])).toMatchObject({ blockHash: sent.blockHash });
    expect([await rig.countMined(rig.account.address), await rig.accountNonce()]).toEqual([1, 1]);
    expect(sender.get('a')?.txHashes).toEqual([sent.txHash]);
  });

  test.each([
    ['eth_getTransactionReceipt', 0],
    ['eth_getBlockByNumber', 1],
    ['eth_getBalance', 2],
    ['eth_maxPriorityFeePerGas', 3],
  ])('everything befalls %s', async (method, offset) => {
    // Nothing but `null` is an answer for a receipt, and means that there is none.
    for (const [place, fault] of FAULTS.entries()) {
      if (place % EVERY !== offset % EVERY) continue;
      if (method === 'eth_getBalance' && fault.kind === 'answer' && `${fault.result}`.startsWith('0x')) continue;
      const own = await createSenderRig(anvil);
      try {
        const sender = await own.open({ rpcUrl: proxy.url, rpcTimeoutMs: 100, pollIntervalMs: 10 });
        const intentId = `${method}-${place}-${own.account.address}`;
        befall(method, [fault]);
        const sent = await sender.send(intentId, markedCall(intentId));
        expect(await anvil.rpc('eth_getTransactionReceipt', [sent.txHash])).toMatchObject({ status: '0x1' });
        expect([await own.countMined(intentId), await own.accountNonce()]).toEqual([1, 1]);
      } finally {
        await own.dispose();
      }
    }
  });

  // Shows SEND-9.
  test('receipts are those of other transactions, or twisted', async () => {
    const sender = await openBehindProxy();
    const other = await sender.send('other', markedCall('other'));
    const foreign = await anvil.rpc('eth_getTransactionReceipt', [other.txHash]);
    const wrong: readonly object[] = [
      foreign as object,
      { from: '0x000000000000000000000000000000000000dead' },
      { status: '0x2' },
      { status: undefined },
      { blockHash: null, blockNumber: null },
      { blockNumber: '0x-1' },
      { logs: [{}] },
      { logs: 'none' },
      { gasUsed: 21_000 },
    ];
    // What is no answer makes the sender wait longer each time; an empty one in between does not.
    const left = wrong.flatMap((changes) => [changes, null]);
    const change = (receipt: unknown) => {
      if (receipt === null || left.length === 0) return receipt;
      const changes = left.shift();
      return changes === null ? null : { ...(receipt as object), ...changes };
    };
    proxy.setPlan((method) => (method === 'eth_getTransactionReceipt' ? { kind: 'change', change } : undefined));
    const sent = await sender.send('twisted', markedCall('twisted'));
    expect(sent.txHash).not.toBe(other.txHash);
    expect(sent).toMatchObject({ nonce: 1, status: 'success', blockNumber: other.blockNumber + 1n });
    expect(rig.events.filter(({ type }) => type === 'rpcFault').length).toBeGreaterThanOrEqual(wrong.length);
  });

  test('the node lags behind by blocks', async () => {
    const sender = await openBehindProxy();
    await sender.send('before', markedCall(`before-${rig.account.address}`));
    let calls = 0;
    proxy.setPlan((method) => {
      if (method === 'eth_sendRawTransaction') return undefined;
      // It is behind for a while, then now and then.
      return calls++ < 30 || calls % 3 === 0 ? { kind: 'lag', blocks: 3 } : undefined;
    });
    const ids = Array.from({ length: 8 }, (_, i) => `lag-${i}-${rig.account.address}`);
    const sending = Promise.all(ids.map((id) => sender.send(id, markedCall(id), { confirmations: 2 })));
    await rig.seen('mined');
    for (let i = 0; i < 8; i++) await anvil.rpc('evm_mine');
    expect((await sending).map(({ nonce }) => nonce)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await Promise.all(ids.map(rig.countMined))).toEqual(ids.map(() => 1));
    expect(await rig.accountNonce()).toBe(9);
  });

  test('the node is too busy for a while', async () => {
    const sender = await openBehindProxy();
    let calls = 0;
    proxy.setPlan(() => (calls++ < 6 ? { kind: 'rateLimit', retryAfterSeconds: 0 } : undefined));
    const ids = Array.from({ length: 20 }, (_, i) => `busy-${i}-${rig.account.address}`);
    await Promise.all(ids.map((id) => sender.send(id, markedCall(id))));
    expect(await Promise.all(ids.map(rig.countMined))).toEqual(ids.map(() => 1));
  });
});

describe('a node that does not answer', () => {
  test('is reported, and nothing is reserved', async () => {
    const sender = await rig.open({ rpcUrl: proxy.url, nodeTimeoutMs: 300 });
    proxy.setPlan(() => ({ kind: 'dropBefore' }));
    const sending = sender.send('never', markedCall('never'));
    await expect(sending).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
    expect([sender.get('never'), sender.inFlight()]).toEqual([undefined, 0]);
    proxy.setPlan(() => undefined);
    expect(await sender.send('never', markedCall('never'))).toMatchObject({ nonce: 0 });
  });

  test('is waited for as soon as bytes are signed', async () => {
    const sender = await openBehindProxy();
    const dead = new Set(['eth_sendRawTransaction', 'eth_getTransactionReceipt', 'eth_getTransactionCount']);
    proxy.setPlan((method) => (dead.has(method) ? { kind: 'dropBefore' } : undefined));
    const sending = sender.send('late', markedCall(`late-${rig.account.address}`));
    await rig.seen('refused');
    expect(sender.get('late')).toMatchObject({ state: 'signed', nonce: 0 });
    proxy.setPlan(() => undefined);
    expect(await sending).toMatchObject({ nonce: 0, status: 'success' });
  });
});
