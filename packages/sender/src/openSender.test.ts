import type { Anvil } from '@prism-gateway/testing';
import { startAnvil } from '@prism-gateway/testing';
import type { Address, Hex } from 'viem';
import { http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSenderRig, MARK_GAS, markedCall, type SenderRig } from '../test/rigs/createSenderRig.ts';
import { openSender } from './openSender.ts';

let anvil: Anvil;
let rig: SenderRig;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  rig = await createSenderRig(anvil);
});
afterEach(() => rig.dispose());

/** Logs topic 1 when it is called without calldata; reverts with its calldata otherwise. */
async function deployEcho(): Promise<Address> {
  const data: Hex = '0x601780600b6000396000f336600c57600160006000a1005b366000600037366000fd';
  const [from] = (await anvil.rpc('eth_accounts')) as [Address];
  const hash = await anvil.rpc('eth_sendTransaction', [{ from, data }]);
  const receipt = () => anvil.rpc('eth_getTransactionReceipt', [hash]);
  // Its block comes a moment after the answer.
  await expect.poll(receipt).toMatchObject({ status: '0x1' });
  return ((await receipt()) as { contractAddress: Address }).contractAddress;
}

describe('an intent', () => {
  test('is sent and confirmed, and its outcome tells the receipt', async () => {
    const sender = await rig.open();
    const to = await deployEcho();
    const sent = await sender.send('one', { to, data: '0x' }, { label: 'hello' });
    const receipt = (await anvil.rpc('eth_getTransactionReceipt', [sent.txHash])) as Record<string, string>;
    expect(sent).toMatchObject({
      intentId: 'one',
      nonce: 0,
      status: 'success',
      blockNumber: BigInt(receipt.blockNumber ?? ''),
      blockHash: receipt.blockHash,
      gasUsed: BigInt(receipt.gasUsed ?? ''),
      effectiveGasPrice: BigInt(receipt.effectiveGasPrice ?? ''),
      logs: [{ address: to, topics: [`0x${'1'.padStart(64, '0')}`], data: '0x', transactionHash: sent.txHash }],
    });
    expect(sender.get('one')).toMatchObject({
      state: 'confirmed',
      label: 'hello',
      nonce: 0,
      txHashes: [sent.txHash],
      sent,
    });
    expect(sender.inFlight()).toBe(0);
  });

  test('loses its bytes once it is final on the chain, not before, and has the same outcome when it is asked for again', async () => {
    const sender = await rig.open();
    const to = await deployEcho();
    const sent = await sender.send('final', { to, data: '0x' });
    expect(await sender.prune(['final', 'unknown'])).toEqual([]);
    await anvil.rpc('anvil_mine', ['0x80']);
    expect(await sender.prune(['final', 'unknown'])).toEqual(['final']);
    expect(await sender.send('final', { to, data: '0x' })).toEqual({ ...sent, logs: [] });
    await expect(sender.send('final', { to, data: '0x01' })).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  });

  // Shows SEND-4.
  test('asked for again has the same outcome, at once, later, and after a restart', async () => {
    const sender = await rig.open();
    const call = markedCall('again');
    const [one, two] = await Promise.all([
      sender.send('again', call),
      sender.send('again', { ...call, gasLimit: MARK_GAS + 1n }),
    ]);
    expect(two).toEqual(one);
    expect(await sender.send('again', call)).toEqual(one);
    await sender.close();
    const next = await rig.open();
    expect(await next.send('again', call)).toEqual(one);
    expect([await rig.countMined('again'), await rig.accountNonce()]).toEqual([1, 1]);
  });

  // Shows SEND-4.
  test('is not sent with another call, whether it is on its way or done', async () => {
    const sender = await rig.open();
    const first = sender.send('same', markedCall('same'));
    const wrong = [markedCall('other'), markedCall('same', 2n), { ...markedCall('same'), to: rig.account.address }];
    for (const call of wrong)
      await expect(sender.send('same', call)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    await first;
    for (const call of wrong)
      await expect(sender.send('same', call)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect(await rig.accountNonce()).toBe(1);
  });

  // Shows SEND-5.
  test('that would revert is not sent, and tells what the call returned', async () => {
    const sender = await rig.open();
    const call = { to: await deployEcho(), data: '0xdeadbeef' } as const;
    await expect(sender.send('revert', call)).rejects.toMatchObject({ code: 'CALL_REVERTED', data: '0xdeadbeef' });
    expect([sender.get('revert'), sender.inFlight(), await rig.accountNonce()]).toEqual([undefined, 0, 0]);
  });

  // Shows SEND-5.
  test('that reverts on the chain has an outcome', async () => {
    const sender = await rig.open();
    const call = { to: await deployEcho(), data: '0xdeadbeef', gasLimit: MARK_GAS } as const;
    const sent = await sender.send('revert', call);
    expect(sent).toMatchObject({ status: 'reverted', logs: [] });
    expect(sender.get('revert')).toMatchObject({ state: 'confirmed', sent });
  });

  test('goes on when nobody waits any more', async () => {
    const sender = await rig.open();
    const abort = new AbortController();
    const waiting = sender.send('left', markedCall('left'), { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await rig.seen('confirmed');
    expect(await sender.send('left', markedCall('left'))).toMatchObject({ status: 'success' });
    const late = sender.send('never', markedCall('never'), { signal: abort.signal });
    await expect(late).rejects.toThrow('enough');
    expect(sender.get('never')).toBeUndefined();
  });

  test.each([
    ['an empty id', '', {}],
    ['a long id', 'x'.repeat(257), {}],
    ['no address', 'x', { to: '0x12' }],
    ['half bytes', 'x', { data: '0x123' }],
    ['a negative value', 'x', { value: -1n }],
    ['no gas', 'x', { gasLimit: 0n }],
  ])('with %s is refused', async (_, intentId, wrong) => {
    const sender = await rig.open();
    const call = { ...markedCall('x'), ...wrong } as ReturnType<typeof markedCall>;
    await expect(sender.send(intentId, call)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('many intents', () => {
  test('go out together, each on its own nonce, and are listed in order', async () => {
    const sender = await rig.open({ maxInFlight: 20 });
    const ids = Array.from({ length: 100 }, (_, i) => `many-${i}`);
    const sent = await Promise.all(ids.map((id) => sender.send(id, markedCall(id))));
    expect(sent.map(({ nonce }) => nonce)).toEqual(ids.map((_, i) => i));
    expect(await rig.accountNonce()).toBe(100);
    expect(sender.list({ states: ['confirmed'] }).map(({ intentId }) => intentId)).toEqual(ids);
    expect(sender.list({ states: ['queued', 'signed', 'broadcast'] })).toEqual([]);
  });

  test('are never more on their way than told', async () => {
    await anvil.rpc('evm_setAutomine', [false]);
    try {
      const sender = await rig.open({ maxInFlight: 3 });
      const sending = Promise.all(Array.from({ length: 8 }, (_, i) => sender.send(`few-${i}`, markedCall(`few-${i}`))));
      await expect.poll(() => sender.list({ states: ['broadcast'] }).length).toBe(3);
      expect([sender.inFlight(), sender.list({ states: ['queued'] }).length]).toEqual([8, 5]);
      await anvil.rpc('evm_setAutomine', [true]);
      await anvil.rpc('evm_mine');
      await sending;
      expect(await rig.accountNonce()).toBe(8);
    } finally {
      await anvil.rpc('evm_setAutomine', [true]);
    }
  });
});

describe('confirmations', () => {
  test('count the including block as the first', async () => {
    const sender = await rig.open({ confirmations: 3 });
    const sending = sender.send('deep', markedCall('deep'));
    const { blockNumber } = await rig.seen('mined');
    await anvil.rpc('evm_mine');
    // It is looked at twice more, at least, and stays where it is.
    const looked = rig.events.length;
    await sender.send('shallow', markedCall('shallow'), { confirmations: 1 });
    expect(rig.events.slice(looked).map(({ type }) => type)).toContain('confirmed');
    expect((await sending).blockNumber).toBe(blockNumber);
    expect(BigInt(String(await anvil.rpc('eth_blockNumber')))).toBe(blockNumber + 2n);
  });

  test.each([0, -1, 1.5, Number.NaN])('of %d are refused', async (confirmations) => {
    await expect(rig.open({ confirmations })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const sender = await rig.open();
    const sending = sender.send('x', markedCall('x'), { confirmations });
    await expect(sending).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('a sender', () => {
  test('that is closed says so, and the next one goes on', async () => {
    await anvil.rpc('evm_setAutomine', [false]);
    try {
      const sender = await rig.open();
      const sending = sender.send('later', markedCall('later'));
      await rig.seen('broadcast');
      await Promise.all([expect(sending).rejects.toMatchObject({ code: 'CLOSED' }), sender.close(), sender.close()]);
      await expect(sender.send('x', markedCall('x'))).rejects.toMatchObject({ code: 'CLOSED' });
      expect(() => sender.get('later')).toThrow(/closed/);
      const next = await rig.open();
      expect(next.get('later')).toMatchObject({ state: 'broadcast', nonce: 0 });
      expect(next.inFlight()).toBe(1);
    } finally {
      await anvil.rpc('evm_setAutomine', [true]);
      await anvil.rpc('evm_mine');
    }
    // Without being asked.
    await rig.seen('confirmed');
    expect(await rig.countMined('later')).toBe(1);
  });

  test('takes a transport of viem for a node', async () => {
    const sender = await rig.open({ rpcUrl: http(anvil.rpcUrl) });
    expect(await sender.send('viem', markedCall('viem'))).toMatchObject({ status: 'success', nonce: 0 });
    const to = await deployEcho();
    const reverting = sender.send('revert', { to, data: '0xdeadbeef' });
    await expect(reverting).rejects.toMatchObject({ code: 'CALL_REVERTED', data: '0xdeadbeef' });
  });

  test('starts behind what the key has sent before', async () => {
    const first = await rig.open();
    await first.send('before', markedCall('before'));
    await first.close();
    const second = await rig.open({ journalPath: `${rig.dir}/second.sqlite` });
    expect(await second.send('after', markedCall('after'))).toMatchObject({ nonce: 1 });
  });

  // Shows SEND-10.
  test('refuses a node, a journal or a key that belongs elsewhere', async () => {
    await expect(rig.open({ chainId: 1 })).rejects.toMatchObject({ code: 'WRONG_CHAIN' });
    await (await rig.open({ chainId: 31_337 })).close();
    const other = await createSenderRig(anvil);
    await expect(rig.open({ account: other.account })).rejects.toMatchObject({ code: 'WRONG_CHAIN' });
    await other.dispose();
    // Two chains alike that begin within the same second have the same first block.
    await using another = await startAnvil({ gasLimit: 20_000_000 });
    await expect(rig.open({ rpcUrl: another.rpcUrl })).rejects.toMatchObject({ code: 'WRONG_CHAIN' });
    await (await rig.open()).close();
  });

  test('tells that the node does not answer, without saying where it is', async () => {
    const opening = openSender({ ...rig.options, nodeTimeoutMs: 100, rpcUrl: 'http://user:secret@127.0.0.1:9' });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RPC_UNAVAILABLE' });
    expect(`${error} ${(error as Error).cause}`).not.toMatch(/127\.0\.0\.1|secret/);
  });

  test('does not work with a signer of another key', async () => {
    // A devnet has ten.
    const account = privateKeyToAccount(anvil.privateKeys[1]!);
    const sender = await rig.open({ account: { ...account, address: rig.account.address } });
    await expect(sender.send('x', markedCall('x'))).rejects.toMatchObject({ code: 'SIGNING_FAILED' });
    expect(sender.get('x')).toBeUndefined();
    const reason = 'The account did not sign; look at the cause.';
    expect(rig.events).toContainEqual({ type: 'signingFault', intentId: 'x', reason });
  });

  test('is not opened twice for one key or one journal', async () => {
    const sender = await rig.open();
    await expect(rig.open()).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' });
    const beside = rig.open({ journalPath: `${rig.dir}/other.sqlite` });
    await expect(beside).rejects.toMatchObject({ code: 'KEY_IN_USE' });
    await sender.close();
    await (await rig.open({ journalPath: `${rig.dir}/other.sqlite` })).close();
  });
});
