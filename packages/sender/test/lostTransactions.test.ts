import { createFakeClock, startRpcFaultProxy } from '@prism-gateway/testing';
import { parseGwei, toHex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { markedCall, type SenderRig, startSenderRig } from './rigs/createSenderRig.ts';
import { rawVersions } from './rigs/rawVersions.ts';
import { sendForeign } from './rigs/sendForeign.ts';

let rig: SenderRig;
beforeEach(async () => {
  rig = await startSenderRig({ isMiningOff: true });
});
afterEach(() => rig.dispose());

const mine = () => rig.anvil.rpc('evm_mine');
const automine = () => rig.anvil.rpc('evm_setAutomine', [true]);

describe('a nonce that somebody else has consumed', () => {
  // Shows SEND-1.
  test('is given up only once their transaction is deep enough', async () => {
    await using proxy = await startRpcFaultProxy({ target: rig.anvil.rpcUrl });
    const sender = await rig.open({ confirmations: 3, rpcUrl: proxy.url });
    const sending = sender.send('lost', markedCall('lost'));
    await rig.seen('broadcast');
    const foreign = await sendForeign(rig, 0);
    await mine();
    expect(await rig.seen('displaced')).toMatchObject({ nonce: 0 });
    await mine();
    const looks = () => proxy.counts.get('eth_getBlockByNumber') ?? 0;
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + 3);
    expect(sender.get('lost')).toMatchObject({ state: 'displaced', nonce: 0 });
    expect(rig.events.some(({ type }) => type === 'requeued')).toBe(false);
    await mine();
    expect(await rig.seen('requeued')).toMatchObject({ nonce: 0, foreignTxHash: foreign });
    await expect.poll(() => sender.get('lost')?.nonce).toBe(1);
    await expect
      .poll(async () => {
        await mine();
        return sender.get('lost')?.state;
      })
      .toBe('confirmed');
    expect(await sending).toMatchObject({ nonce: 1, status: 'success' });
    expect([await rig.countMined('lost'), await rig.accountNonce()]).toEqual([1, 2]);
    expect(sender.get('lost')?.txHashes.length).toBeGreaterThanOrEqual(2);
  });

  test('before the sender asked for it, costs nothing but another one', async () => {
    await automine();
    const sender = await rig.open();
    await sendForeign(rig, 0);
    await sendForeign(rig, 1);
    const sent = await Promise.all(['x', 'y', 'z'].map((id) => sender.send(id, markedCall(id))));
    expect(sent.map(({ nonce }) => nonce).sort()).toEqual([2, 3, 4]);
    expect(await Promise.all(['x', 'y', 'z'].map(rig.countMined))).toEqual([1, 1, 1]);
  });

  test('comes back when their transaction is reorganised away', async () => {
    const sender = await rig.open({ confirmations: 3 });
    const sending = sender.send('back', markedCall('back'));
    await rig.seen('broadcast');
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    await sendForeign(rig, 0);
    await mine();
    await rig.seen('displaced');
    await rig.anvil.rpc('evm_revert', [snapshot]);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await expect.poll(() => sender.get('back')?.state).toBe('broadcast');
    await expect
      .poll(async () => {
        await mine();
        return sender.get('back')?.state;
      })
      .toBe('confirmed');
    expect(await sending).toMatchObject({ nonce: 0 });
    expect([await rig.countMined('back'), await rig.accountNonce()]).toEqual([1, 1]);
  });
});

describe('a reorganisation', () => {
  // Shows SEND-6.
  test('that takes a mined transaction away has its bytes broadcast again', async () => {
    const sender = await rig.open({ confirmations: 4 });
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    const sending = sender.send('reorg', markedCall('reorg'));
    await rig.seen('broadcast');
    await mine();
    const mined = await rig.seen('mined');
    await rig.anvil.rpc('evm_revert', [snapshot]);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await mine();
    await mine();
    expect(await rig.seen('reorged')).toMatchObject({ txHash: mined.txHash });
    await expect
      .poll(async () => {
        await mine();
        return sender.get('reorg')?.state;
      })
      .toBe('confirmed');
    const sent = await sending;
    expect(sent.txHash).toBe(mined.txHash);
    expect(await rig.anvil.rpc('eth_getTransactionReceipt', [sent.txHash])).toMatchObject({
      blockHash: sent.blockHash,
    });
    expect([await rig.countMined('reorg'), await rig.accountNonce()]).toEqual([1, 1]);
  });

  test('that puts it into another block is followed there', async () => {
    const sender = await rig.open({ confirmations: 5 });
    const sending = sender.send('moved', markedCall('moved'));
    await rig.seen('broadcast');
    await mine();
    const { blockNumber, txHash } = await rig.seen('mined');
    const raw = rawVersions(rig, 'moved')[0];
    await rig.anvil.rpc('anvil_reorg', [1, []]);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await mine();
    await rig.anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    await expect
      .poll(async () => {
        await mine();
        return sender.get('moved')?.state;
      })
      .toBe('confirmed');
    const sent = await sending;
    expect([sent.txHash, sent.blockNumber > blockNumber]).toEqual([txHash, true]);
    expect(await rig.countMined('moved')).toBe(1);
  });

  test('deeper than the confirmations leaves a gap, which the journal fills with the same bytes', async () => {
    await automine();
    const sender = await rig.open();
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    const first = await sender.send('first', markedCall('first'));
    await rig.anvil.rpc('evm_revert', [snapshot]);
    expect(await rig.accountNonce()).toBe(0);
    const second = await sender.send('second', markedCall('second'));
    expect(second.nonce).toBe(1);
    expect(await rig.seen('gapFilled')).toEqual({ type: 'gapFilled', nonce: 0, txHash: first.txHash });
    expect(await Promise.all(['first', 'second'].map(rig.countMined))).toEqual([1, 1]);
  });

  test('deeper than the confirmations: what its caller keeps back keeps no other gap open', async () => {
    await automine();
    let kept: number | undefined;
    const sender = await rig.open({
      // The first waits for the second, as a payout does that somebody else has paid.
      async mayBroadcast({ nonce }) {
        if (nonce === 0 && kept === 0) throw new Error('not yet');
        if (nonce === 1) kept = undefined;
        return true;
      },
    });
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    for (const id of ['first', 'second']) await sender.send(id, markedCall(id));
    await rig.anvil.rpc('evm_revert', [snapshot]);
    kept = 0;
    expect(await sender.send('third', markedCall('third'))).toMatchObject({ nonce: 2 });
    expect(await Promise.all(['first', 'second', 'third'].map(rig.countMined))).toEqual([1, 1, 1]);
  });

  /** A first transaction is taken away again; meanwhile gas has become dear, and a second one waits behind the gap. */
  async function loseFirst(maxFeePerGas: bigint, rpcUrl = rig.anvil.rpcUrl) {
    const clock = createFakeClock();
    const sender = await rig.open({ bumpAfterMs: 10, now: clock.now, rpcUrl });
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    await mine();
    await automine();
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    const first = await sender.send('first', markedCall('first'), { maxFeePerGas });
    await rig.anvil.rpc('evm_revert', [snapshot]);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await rig.anvil.rpc('evm_setAutomine', [false]);
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('20'))]);
    await mine();
    clock.advance(60_000);
    const second = sender.send('second', markedCall('second'));
    await rig.seen('broadcast');
    return { clock, sender, first, second };
  }

  // Shows SEND-6.
  test('in which gas becomes dear leaves a gap, which the same call for more fills; what waits behind it is not raised', async () => {
    const { clock, first, second } = await loseFirst(parseGwei('90'));
    const filled = await rig.seen('gapFilled');
    expect(filled.nonce).toBe(0);
    expect(filled.txHash).not.toBe(first.txHash);
    clock.advance(60_000);
    await rig.anvil.rpc('evm_setAutomine', [true]);
    await mine();
    expect(await second).toMatchObject({ nonce: 1 });
    expect(rig.events.filter(({ type }) => type === 'bumped')).toEqual([]);
    expect(await Promise.all(['first', 'second'].map(rig.countMined))).toEqual([1, 1]);
  });

  // Shows SEND-11.
  test('of what may not offer as much as gas costs now leaves a gap that is freed once work waits behind it', async () => {
    await using proxy = await startRpcFaultProxy({ target: rig.anvil.rpcUrl });
    const { sender, second } = await loseFirst(parseGwei('3'), proxy.url);
    const looks = () => proxy.counts.get('eth_getTransactionCount') ?? 0;
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + 12);
    expect(sender.isStuck({ baseFeePerGas: parseGwei('20'), tip: 1n })).toBe(true);
    expect(rig.events.filter(({ type }) => type === 'gapFilled')).toEqual([]);
    sender.unblock({ waiting: 1, market: { baseFeePerGas: parseGwei('20'), tip: 1n } });
    expect(await rig.seen('gapFilled')).toMatchObject({ nonce: 0 });
    await rig.anvil.rpc('evm_setAutomine', [true]);
    await mine();
    expect(await second).toMatchObject({ nonce: 1 });
    expect(await Promise.all(['first', 'second'].map(rig.countMined))).toEqual([0, 1]);
  });

  test('that takes away what others had sent leaves a gap, which a self-transfer fills', async () => {
    await automine();
    const snapshot = await rig.anvil.rpc('evm_snapshot');
    await sendForeign(rig, 0);
    const sender = await rig.open();
    await rig.anvil.rpc('evm_revert', [snapshot]);
    const sending = sender.send('above', markedCall('above'));
    expect(await rig.seen('gapFilled')).toMatchObject({ nonce: 0 });
    // Anvil mines by itself what has just come, and may leave what could not be mined before.
    await expect
      .poll(async () => {
        await mine();
        return sender.get('above')?.state;
      })
      .toBe('confirmed');
    expect(await sending).toMatchObject({ nonce: 1 });
    expect([await rig.countMined('above'), await rig.accountNonce()]).toEqual([1, 2]);
  });
});
