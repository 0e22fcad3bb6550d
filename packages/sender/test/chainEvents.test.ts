import { createFakeClock, startRpcFaultProxy } from '@prism-gateway/testing';
import { parseGwei, toHex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSenderRig, MARK_GAS, markedCall, type SenderRig, startSenderRig } from './rigs/createSenderRig.ts';
import { rawVersions } from './rigs/rawVersions.ts';

let rig: SenderRig;
beforeEach(async () => {
  rig = await startSenderRig({ isMiningOff: true });
});
afterEach(() => rig.dispose());

const mine = () => rig.anvil.rpc('evm_mine');
const automine = () => rig.anvil.rpc('evm_setAutomine', [true]);

/** Waits until the node holds a transaction. */
async function pooled(hash: string | undefined): Promise<void> {
  await expect.poll(() => rig.anvil.rpc('eth_getTransactionByHash', [hash])).toMatchObject({ hash });
}

describe('a transaction that waits too long', () => {
  // Shows SEND-3.
  test('is offered for more on the same nonce, and the newest version is mined', async () => {
    const clock = createFakeClock();
    const sender = await rig.open({ bumpAfterMs: 30_000, bumpPercent: 25, now: clock.now });
    const sending = sender.send('slow', markedCall('slow'));
    const { txHash: first } = await rig.seen('broadcast');
    clock.advance(29_000);
    await rig.anvil.rpc('eth_blockNumber');
    expect(sender.get('slow')?.txHashes).toEqual([first]);
    clock.advance(1_000);
    const bumped = await rig.seen('bumped');
    expect(sender.get('slow')?.txHashes).toEqual([first, bumped.txHash]);
    await pooled(bumped.txHash);
    await mine();
    expect(await sending).toMatchObject({ txHash: bumped.txHash, nonce: 0 });
    expect([await rig.countMined('slow'), await rig.accountNonce()]).toEqual([1, 1]);
  });

  test('is settled by an older version, when that is the one that is mined', async () => {
    const clock = createFakeClock();
    const sender = await rig.open({ bumpAfterMs: 30_000, now: clock.now });
    const sending = sender.send('older', markedCall('older'));
    await rig.seen('broadcast');
    clock.advance(30_000);
    await pooled((await rig.seen('bumped')).txHash);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    const hash = await rig.anvil.rpc('eth_sendRawTransaction', [rawVersions(rig, 'older')[0]]);
    await mine();
    expect((await sending).txHash).toBe(hash);
    expect([await rig.countMined('older'), await rig.accountNonce()]).toEqual([1, 1]);
  });

  // Shows SEND-11.
  test('is never offered for more than its own ceiling, and cancelled once it has expired and that is cheap', async () => {
    const clock = createFakeClock();
    const options = { bumpAfterMs: 1000, now: clock.now };
    const sender = await rig.open(options);
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    const bounds = { maxFeePerGas: parseGwei('2.5'), expiresAtMs: clock.now() + 60_000 };
    const dear = sender.send('dear', markedCall('dear'), { ...bounds, maxFeePerGas: 1n, whenGasTooHigh: 'reject' });
    await expect(dear).rejects.toMatchObject({ code: 'GAS_PRICE_TOO_HIGH' });
    const sending = sender.send('bounded', markedCall('bounded'), bounds);
    const outcome = expect(sending).rejects.toMatchObject({ code: 'CLOSED' });
    await rig.seen('broadcast');
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await sender.close();
    await outcome;
    // The bounds are in the journal. At the new price hoping is cheaper than freeing the nonce.
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('9'))]);
    await mine();
    clock.advance(120_000);
    const next = await rig.open(options);
    const again = next.send('bounded', markedCall('bounded'), bounds);
    const expired = expect(again).rejects.toMatchObject({ code: 'EXPIRED', spentWei: expect.any(BigInt) });
    for (let round = 0; round < 20; round += 1) {
      clock.advance(1000);
      await rig.anvil.rpc('eth_blockNumber');
    }
    expect(rig.events.filter(({ type }) => type === 'bumped' || type === 'cancelling')).toEqual([]);
    // A block with room for nothing: the call may have come to the node again, at the price that it accepts now.
    await rig.anvil.rpc('evm_setBlockGasLimit', [toHex(20_000n)]);
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    await mine();
    await rig.anvil.rpc('evm_setBlockGasLimit', [toHex(30_000_000n)]);
    clock.advance(60_000);
    const cancel = await rig.seen('bumped');
    await pooled(cancel.txHash);
    await mine();
    await expired;
    expect(next.get('bounded')?.failure?.spentWei).toBeGreaterThan(0n);
    expect([await rig.countMined('bounded'), await rig.accountNonce()]).toEqual([0, 1]);
  });

  // Shows SEND-11.
  test('is not signed if it has expired by then', async () => {
    const sender = await rig.open({});
    const late = sender.send('late', markedCall('late'), { expiresAtMs: Date.now() - 1 });
    await expect(late).rejects.toMatchObject({ code: 'EXPIRED', spentWei: 0n });
    expect(sender.get('late')).toBeUndefined();
  });

  // Shows SEND-11.
  test('that is stuck is freed at a high price, too, once work waits behind it', async () => {
    const clock = createFakeClock();
    const sender = await rig.open({ bumpAfterMs: 1000, now: clock.now });
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    const bounds = { maxFeePerGas: parseGwei('2.5'), expiresAtMs: clock.now() + 60_000 };
    const sending = sender.send('stuck', markedCall('stuck'), bounds);
    const expired = expect(sending).rejects.toMatchObject({ code: 'EXPIRED', spentWei: expect.any(BigInt) });
    await rig.seen('broadcast');
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('9'))]);
    await mine();
    const at = (gwei: string, tip = '0.1') => sender.isStuck({ baseFeePerGas: parseGwei(gwei), tip: parseGwei(tip) });
    expect([at('2'), at('2', '0.6'), at('9')]).toEqual([false, true, true]);
    // It has half a minute left.
    clock.advance(30_000);
    const market = { baseFeePerGas: parseGwei('9'), tip: parseGwei('0.1') };
    expect(sender.unblock({ waiting: 0, market })).toBe(false);
    expect(sender.unblock({ waiting: 1, market })).toBe(true);
    const cancel = await rig.seen('cancelling');
    expect(cancel.code).toBe('EXPIRED');
    expect(at('9')).toBe(false);
    await automine();
    await expired;
    expect([await rig.countMined('stuck'), await rig.accountNonce()]).toEqual([0, 1]);
  });

  // Shows SEND-11.
  test('of several that are stuck as many are freed at once as there is work that pays, the first in line first', async () => {
    const clock = createFakeClock();
    const sender = await rig.open({ bumpAfterMs: 3_600_000, now: clock.now });
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    const low = { maxFeePerGas: parseGwei('2.5'), expiresAtMs: clock.now() + 3_600_000 };
    const ends = Promise.allSettled([
      ...['one', 'two', 'three'].map((id) => sender.send(id, markedCall(id), low)),
      sender.send('pays', markedCall('pays'), { ...low, maxFeePerGas: parseGwei('90') }),
    ]);
    await expect.poll(() => sender.get('pays')?.state).toBe('broadcast');
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('9'))]);
    await mine();
    // The price that it knows is old.
    clock.advance(30_000);
    sender.unblock({ waiting: 1, market: { baseFeePerGas: parseGwei('9'), tip: parseGwei('0.1') } });
    const states = () => ['one', 'two', 'three', 'pays'].map((id) => sender.get(id)?.state);
    await expect.poll(states).toEqual(['cancelling', 'cancelling', 'broadcast', 'broadcast']);
    sender.unblock({ waiting: 5, market: { baseFeePerGas: parseGwei('9'), tip: parseGwei('0.1') } });
    await expect.poll(states).toEqual(['cancelling', 'cancelling', 'cancelling', 'broadcast']);
    clock.advance(3_600_000);
    await automine();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
  });

  // Shows SEND-13.
  test('is freed once its caller forbids it, even if it has offered all that it may', async () => {
    const clock = createFakeClock();
    let isAllowed = true;
    const sender = await rig.open({
      ...{ bumpAfterMs: 3_600_000, now: clock.now, maxFeePerGas: parseGwei('2.5') },
      mayBroadcast: async () => isAllowed || sender.get('forbidden')?.state === 'cancelling',
    });
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    const sending = sender.send('forbidden', markedCall('forbidden'));
    const forbidden = expect(sending).rejects.toMatchObject({ code: 'BROADCAST_FORBIDDEN' });
    await pooled((await rig.seen('broadcast')).txHash);
    isAllowed = false;
    clock.advance(60_000);
    expect(await rig.seen('cancelling')).toMatchObject({ nonce: 0, code: 'BROADCAST_FORBIDDEN' });
    await pooled((await rig.seen('bumped')).txHash);
    await mine();
    await forbidden;
    expect([await rig.countMined('forbidden'), await rig.accountNonce()]).toEqual([0, 1]);
  });

  // Shows SEND-13.
  test('never leaves, if its caller forbids it from the first, and is asked of again if that cannot be known', async () => {
    await automine();
    const asked: string[] = [];
    const sender = await rig.open({
      async mayBroadcast({ nonce }) {
        asked.push(`${nonce}`);
        if (asked.length === 1) throw new Error('a secret');
        return sender.get('never')?.state === 'cancelling';
      },
    });
    await expect(sender.send('never', markedCall('never'))).rejects.toMatchObject({ code: 'BROADCAST_FORBIDDEN' });
    expect([await rig.countMined('never'), await rig.accountNonce(), asked]).toEqual([0, 1, ['0', '0', '0']]);
    expect((await rig.seen('refused')).reason).toBe('the caller does not know now whether it may be broadcast: Error');
  });

  test('is raised at once when the block asks for more, and not above the ceiling', async () => {
    const sender = await rig.open({ maxFeePerGas: parseGwei('30') });
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    const sending = sender.send('dear', markedCall('dear'));
    await rig.seen('broadcast');
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await sender.close();
    await expect(sending).rejects.toMatchObject({ code: 'CLOSED' });
    // The block that Anvil would build now does not take what was signed.
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('20'))]);
    await mine();
    await automine();
    const next = await rig.open({ maxFeePerGas: parseGwei('30') });
    expect(await next.send('dear', markedCall('dear'))).toMatchObject({ nonce: 0, status: 'success' });
    const { maxFeePerGas } = await rig.seen('bumped');
    expect(maxFeePerGas).toBe(parseGwei('30'));
    expect(await rig.countMined('dear')).toBe(1);
  });
});

describe('while gas costs more than the ceiling', () => {
  // Shows SEND-7.
  test('intents wait, which is reported once, or are refused where they are told to be', async () => {
    await automine();
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('100'))]);
    await mine();
    const sender = await rig.open({ maxFeePerGas: parseGwei('50') });
    const waiting = sender.send('wait', markedCall('wait'));
    expect(await rig.seen('gasPriceTooHigh')).toMatchObject({ ceilingWei: parseGwei('50') });
    const rejecting = sender.send('reject', markedCall('reject'), { whenGasTooHigh: 'reject' });
    await expect(rejecting).rejects.toMatchObject({ code: 'GAS_PRICE_TOO_HIGH' });
    expect([sender.get('wait')?.state, sender.get('reject'), await rig.accountNonce()]).toEqual([
      'queued',
      undefined,
      0,
    ]);
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [toHex(parseGwei('1'))]);
    await mine();
    expect(await waiting).toMatchObject({ nonce: 0, status: 'success' });
    expect(rig.events.filter(({ type }) => type === 'gasPriceTooHigh')).toHaveLength(1);
  });
});

describe('an account without funds', () => {
  test('is told so before anything is reserved', async () => {
    await automine();
    await rig.anvil.rpc('anvil_setBalance', [rig.account.address, toHex(10n ** 15n)]);
    const sender = await rig.open();
    const call = markedCall('rich', 10n ** 18n);
    await expect(sender.send('rich', call)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect([sender.get('rich'), sender.inFlight()]).toEqual([undefined, 0]);
    // What it can pay for goes, and so does the other once there are funds.
    expect(await sender.send('poor', markedCall('poor'))).toMatchObject({ nonce: 0 });
    await rig.anvil.rpc('anvil_setBalance', [rig.account.address, toHex(10n ** 19n)]);
    expect(await sender.send('rich', call)).toMatchObject({ nonce: 1 });
  });

  test('waits for what is on its way, which may cost less', async () => {
    const sender = await rig.open();
    // Each sets aside far more than half of the account.
    const dear = { ...markedCall('x'), gasLimit: 20_000_000n };
    await rig.anvil.rpc('anvil_setBalance', [rig.account.address, toHex(9n * 10n ** 16n)]);
    const sending = Promise.all(
      ['dear-1', 'dear-2'].map((id) => sender.send(id, { ...markedCall(id), gasLimit: dear.gasLimit })),
    );
    await rig.seen('insufficientFunds');
    expect(sender.list({ states: ['queued'] })).toHaveLength(1);
    await automine();
    await mine();
    expect((await sending).map(({ nonce }) => nonce)).toEqual([0, 1]);
  });
});

describe('what the node refuses for good', () => {
  // Shows SEND-8.
  test('frees its nonce, and those behind it go on', async () => {
    await automine();
    const sender = await rig.open();
    // Less than any transaction takes.
    const refused = sender.send('bad', { ...markedCall('bad'), gasLimit: 20_000n });
    const after = sender.send('good', markedCall('good'));
    await expect(refused).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' });
    expect(await after).toMatchObject({ nonce: 1, status: 'success' });
    expect(sender.get('bad')).toMatchObject({ state: 'abandoned', nonce: 0, failure: { code: 'TRANSACTION_REFUSED' } });
    expect([await rig.countMined('bad'), await rig.accountNonce()]).toEqual([0, 2]);
    // The same outcome, later and after a restart.
    const again = { ...markedCall('bad') };
    await expect(sender.send('bad', again)).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' });
    await sender.close();
    const next = await rig.open();
    await expect(next.send('bad', again)).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' });
    expect(await rig.countMined('bad')).toBe(0);
  });

  test('is mined all the same when the node lied', async () => {
    await using proxy = await startRpcFaultProxy({ target: rig.anvil.rpcUrl });
    const sender = await rig.open({ rpcUrl: proxy.url });
    let raw: unknown;
    proxy.setPlan((method, n, params) => {
      if (method !== 'eth_sendRawTransaction' || n > 1) return undefined;
      raw = params[0];
      return { kind: 'error', code: -32_000, message: 'intrinsic gas too low' };
    });
    const sending = sender.send('lie', markedCall('lie'));
    await pooled((await rig.seen('bumped')).txHash);
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await rig.anvil.rpc('eth_sendRawTransaction', [raw]);
    await mine();
    expect(await sending).toMatchObject({ nonce: 0, status: 'success' });
    expect(sender.get('lie')).toMatchObject({ state: 'confirmed' });
    expect(sender.get('lie')?.failure).toBeUndefined();
    expect([await rig.countMined('lie'), await rig.accountNonce()]).toEqual([1, 1]);
  });
});

test('a journal of one sender is as good for the next, whatever was left on its way', async () => {
  const ids = Array.from({ length: 5 }, (_, i) => `left-${i}`);
  const sender = await rig.open();
  const sending = Promise.allSettled(ids.map((id) => sender.send(id, { ...markedCall(id), gasLimit: MARK_GAS })));
  await expect.poll(() => sender.list({ states: ['broadcast'] }).length).toBe(5);
  await sender.close();
  await sending;
  // The node forgets what it had.
  await rig.anvil.rpc('anvil_dropAllTransactions');
  await automine();
  const hashes = ids.map((id) => rawVersions(rig, id).length);
  const next = await rig.open();
  // The node says that the account has sent nothing; the journal knows better.
  const fresh = next.send('fresh', markedCall('fresh'));
  const sent = await Promise.all(ids.map((id) => next.send(id, markedCall(id))));
  expect(sent.map(({ nonce }) => nonce)).toEqual([0, 1, 2, 3, 4]);
  expect(await fresh).toMatchObject({ nonce: 5 });
  // The same bytes.
  expect(ids.map((id) => rawVersions(rig, id).length)).toEqual(hashes);
});

test('two rigs on one chain do not see each other', async () => {
  await automine();
  const other = await createSenderRig(rig.anvil);
  try {
    const [one, two] = [await rig.open(), await other.open()];
    const sent = await Promise.all([one.send('same', markedCall('same')), two.send('same', markedCall('same'))]);
    expect(sent.map(({ nonce }) => nonce)).toEqual([0, 0]);
    expect(await rig.countMined('same')).toBe(2);
  } finally {
    await other.dispose();
  }
});
