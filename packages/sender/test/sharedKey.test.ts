import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Sender, SenderOptions } from '../src/index.ts';
import { markedCall, type SenderRig, startSenderRig } from './rigs/createSenderRig.ts';
import { sendForeign } from './rigs/sendForeign.ts';

let rig: SenderRig;
beforeEach(async () => {
  rig = await startSenderRig({ isMiningOff: true });
});
afterEach(() => rig.dispose());

const mine = () => rig.anvil.rpc('evm_mine');
const open = (name = 'journal.sqlite', more: Partial<SenderOptions> = {}) =>
  rig.open({
    ...{ whenKeyIsShared: 'reject', journalPath: join(rig.dir, name), lockDir: join(rig.dir, `locks of ${name}`) },
    ...more,
  });
async function isHeld(sender: Sender): Promise<boolean> {
  await sender.checkKey();
  return sender.isHeld();
}
const foreign = () => rig.events.filter(({ type }) => type === 'foreign');

// Shows SEND-12.
describe('a sender that is told to reject what somebody else with its key may have done', () => {
  test('gives an intent up whose nonce is taken, and tells the transaction', async () => {
    const sender = await open();
    const outcome = expect(sender.send('lost', markedCall('lost'))).rejects.toMatchObject({
      code: 'KEY_USED_ELSEWHERE',
      spentWei: 0n,
    });
    await rig.seen('broadcast');
    const txHash = await sendForeign(rig, 0);
    await mine();
    await outcome;
    expect(foreign()).toMatchObject([{ nonce: 0, count: 1, txHash }]);
    expect([await rig.countMined('lost'), await rig.accountNonce()]).toEqual([0, 1]);
  });

  test('signs nothing while theirs wait for a block, and rejects what was handed over before', async () => {
    const sender = await open();
    await sendForeign(rig, 0);
    await sender.checkKey();
    expect(foreign()).toEqual([{ type: 'foreign', nonce: 0, count: 1 }]);
    const outcome = expect(sender.send('early', markedCall('early'))).rejects.toMatchObject({
      code: 'KEY_USED_ELSEWHERE',
    });
    await sender.checkKey();
    expect([sender.isHeld(), rig.events.some(({ type }) => type === 'signed')]).toEqual([true, false]);
    await mine();
    await outcome;
    await rig.anvil.rpc('evm_setAutomine', [true]);
    expect(await sender.send('late', markedCall('late'))).toMatchObject({ nonce: 1 });
    expect(foreign()).toHaveLength(1);
  });

  test('goes on with the nonces of theirs that the node has dropped', async () => {
    const sender = await open();
    await sendForeign(rig, 0);
    await sender.checkKey();
    await rig.anvil.rpc('anvil_dropAllTransactions');
    await expect.poll(() => isHeld(sender)).toBe(false);
    await rig.anvil.rpc('evm_setAutomine', [true]);
    expect(await sender.send('next', markedCall('next'))).toMatchObject({ nonce: 0 });
  });

  test('takes the nonce of one that offers too little for longer than it may wait, also over a restart', async () => {
    let aheadMs = 0;
    const patient = { freeForeignAfterMs: 600_000, now: () => Date.now() + aheadMs };
    // By a price of 40 gwei twice as much is offered as is waited for.
    await rig.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x9502f9000']);
    await mine();
    await sendForeign(rig, 0);
    const first = await open('journal.sqlite', patient);
    expect(await isHeld(first)).toBe(true);
    await first.close();
    aheadMs = 590_000;
    const sender = await open('journal.sqlite', patient);
    expect([await isHeld(sender), await rig.accountNonce()]).toEqual([true, 0]);
    aheadMs = 610_000;
    await expect(sender.checkKey()).resolves.toBeUndefined();
    expect(await rig.seen('gapFilled')).toMatchObject({ nonce: 0 });
    await mine();
    await expect.poll(() => isHeld(sender)).toBe(false);
    await rig.anvil.rpc('evm_setAutomine', [true]);
    expect(await sender.send('next', markedCall('next'))).toMatchObject({ nonce: 1 });
    expect([rig.events.filter(({ type }) => type === 'gapFilled').length, await rig.accountNonce()]).toEqual([1, 2]);
  });

  test('with an empty journal waits for what was sent before, and holds it for no evidence', async () => {
    await sendForeign(rig, 0);
    const sender = await open();
    expect([sender.isHeld(), foreign()]).toEqual([true, []]);
    await mine();
    await expect.poll(() => isHeld(sender)).toBe(false);
  });

  test('with an older journal tells what that does not know, once', async () => {
    await rig.anvil.rpc('evm_setAutomine', [true]);
    const first = await open();
    await first.send('one', markedCall('one'));
    await first.close();
    await copyFile(join(rig.dir, 'journal.sqlite'), join(rig.dir, 'old.sqlite'));
    const second = await open();
    await second.send('two', markedCall('two'));
    await second.close();
    expect(foreign()).toEqual([]);
    const restored = await open('old.sqlite');
    expect([restored.isHeld(), foreign()]).toEqual([false, [{ type: 'foreign', nonce: 1, count: 1, isOld: true }]]);
    await restored.close();
    expect(await (await open('old.sqlite')).send('three', markedCall('three'))).toMatchObject({ nonce: 2 });
    expect(foreign()).toHaveLength(1);
  });
});
