import { rmSync } from 'node:fs';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { createWalletClient, http, parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { type RunningInstance, runInstance } from './rig/runInstance.ts';

const AMOUNT = 7_000_001n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);
const REORG_DEPTH = 12;
/** For payouts that are undone at leisure: however slow this machine is, no block of a test is settled. */
const NEVER_SETTLED = { REORG_DEPTH: '1000' };

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 300 });
});

afterAll(() => rig.close());

async function startFrontend() {
  const frontend = await rig.startFrontend();
  return {
    frontend,
    add: () => rig.addPayment(AMOUNT, frontend),
    run: (key: RigKey, others: readonly `0x${string}`[] = [], more: Readonly<Record<string, string>> = {}) =>
      runInstance({ ...rig.settingsFor(key, others, frontend), REORG_DEPTH: `${REORG_DEPTH}`, ...more }),
    txHashOf: (id: string) => frontend.store.list().find(({ paymentIntentId }) => paymentIntentId === id)?.txHash,
  };
}

/** Replaces the newest blocks by empty ones, back to before a transaction; what was in them is gone, and waits nowhere. */
async function undo(txHash: string): Promise<void> {
  const hash = txHash as `0x${string}`;
  const { blockNumber, blockHash } = await rig.client.getTransactionReceipt({ hash });
  const isThere = async () => (await rig.client.getBlock({ blockNumber }).catch(() => undefined))?.hash === blockHash;
  // A block that is mined between the look and the reorganisation makes it too shallow.
  await rig.betweenBlocks(async () => {
    while (await isThere()) {
      const depth = Number((await rig.client.getBlockNumber({ cacheTime: 0 })) - blockNumber) + 1;
      await rig.client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
    }
  });
}

const waitForPayouts = (id: string, count: number) =>
  waitUntil(async () => (await rig.countPayouts(payoutIdOf(id))) === count, {
    timeoutMs: TIMEOUT_MS,
    what: `not ${count} payouts of ${id}`,
  });

const waitForState = (instance: RunningInstance, id: string, state: string) =>
  waitUntil(() => instance.relayer.journal.get(id)?.state === state, {
    timeoutMs: TIMEOUT_MS,
    what: `${id} is not ${state}`,
  });

const codesOf = ({ alerts }: RunningInstance) => alerts.map(({ code }) => code);

// Shows PAY-15.
test('a completed payout that a reorganisation has undone is broadcast again, the same bytes', async () => {
  const { add, run, txHashOf } = await startFrontend();
  const instance = await run(await rig.fundKey(), [], NEVER_SETTLED);
  const { paymentIntentId, walletAddress } = add();
  await waitForState(instance, paymentIntentId, 'completed');
  const txHash = txHashOf(paymentIntentId) as `0x${string}`;
  await undo(txHash);
  expect(await rig.creditsOf(walletAddress)).toBe(0n);
  await waitForPayouts(paymentIntentId, 1);
  await waitForState(instance, paymentIntentId, 'completed');
  expect((await rig.client.getTransactionReceipt({ hash: txHash })).status).toBe('success');
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  await instance.stop();
});

// Shows PAY-15, PAY-18.
test('undone while its instance is down, and a foreign transaction takes its account nonce: told, and paid anew once a person resumes', async () => {
  const { add, run, txHashOf } = await startFrontend();
  const key = await rig.fundKey();
  const before = await run(key);
  const { paymentIntentId, walletAddress } = add();
  await waitForState(before, paymentIntentId, 'completed');
  await before.stop();
  const txHash = txHashOf(paymentIntentId) as `0x${string}`;
  const { nonce } = await rig.client.getTransaction({ hash: txHash });
  await undo(txHash);
  const account = privateKeyToAccount(key.privateKey);
  const wallet = createWalletClient({ account, transport: http(rig.rpcUrl) });
  let next = await rig.client.getTransactionCount({ address: account.address });
  for (; next <= nonce; next++) {
    await wallet.sendTransaction({
      chain: null,
      to: account.address,
      nonce: next,
      gas: 21_000n,
      maxFeePerGas: parseGwei('20'),
      maxPriorityFeePerGas: parseGwei('1'),
    });
  }
  const after = await run(key);
  await waitUntil(() => codesOf(after).includes('KEY_USED_ELSEWHERE'), { timeoutMs: TIMEOUT_MS, what: 'no alert' });
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(0);
  const { DATA_DIR = '' } = rig.settingsFor(key);
  await runCommand(['resume', '--why', 'it was me'], { environment: { DATA_DIR }, print: () => undefined });
  await waitForPayouts(paymentIntentId, 1);
  await waitForState(after, paymentIntentId, 'completed');
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(codesOf(after).filter((code) => code === 'KEY_USED_ELSEWHERE')).toHaveLength(1);
  const again = after.relayer.journal.get(paymentIntentId)?.txHash;
  expect(again).not.toBe(txHash);
  // The books count what is on the chain.
  const own = after.relayer.journal.attemptsOf(paymentIntentId).filter(({ kind }) => kind === 'payout');
  expect(own.map(({ state, mined }) => [state, mined?.credits])).toEqual([
    ['void', undefined],
    ['done', OWED],
  ]);
  expect(codesOf(after)).toContain('COMPLETED_BY_ANOTHER_TRANSACTION');
  await after.stop();
});

test('completed by an instance that has found the payout of another one, which is dead, and undone: paid by the living, once', async () => {
  const { add, run, frontend, txHashOf } = await startFrontend();
  const [one, two] = [await rig.fundKey(), await rig.fundKey()];
  const addresses = [one.address, two.address];
  const contract = { PAYOUTS_ADDRESS: await rig.deployPayouts(addresses) };
  // It looks seldom, so that it is stopped before it knows that its payout is mined.
  const payer = await run(one, addresses, { ...contract, RPC_POLL_INTERVAL_MS: '1500' });
  const { paymentIntentId, walletAddress } = add();
  await waitForState(payer, paymentIntentId, 'transferring');
  await waitForPayouts(paymentIntentId, 1);
  await payer.stop();
  const isUnreported = txHashOf(paymentIntentId) === undefined;
  // Nobody has named the other to it: the contract tells.
  const other = await run(two, [], { ...contract, ...NEVER_SETTLED });
  await waitUntil(() => txHashOf(paymentIntentId) !== undefined, { timeoutMs: TIMEOUT_MS, what: 'not completed' });
  expect(isUnreported).toBe(true);
  await waitForState(other, paymentIntentId, 'completed');
  expect(other.relayer.journal.get(paymentIntentId)?.paidBy?.toLowerCase()).toBe(one.address.toLowerCase());
  await undo(txHashOf(paymentIntentId) as string);
  await waitForPayouts(paymentIntentId, 1);
  await waitForState(other, paymentIntentId, 'completed');
  // The dead one comes back with its payout in the journal, and finds that it is another's now.
  const back = await run(one, addresses, contract);
  await waitUntil(() => ['completed', 'given back'].includes(back.relayer.journal.get(paymentIntentId)?.state ?? ''), {
    timeoutMs: TIMEOUT_MS,
    what: 'the first is still at it',
  });
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(frontend.store.list()).toHaveLength(1);
  await other.stop();
  await back.stop();
});

test('undone, and its bytes lost with the journal: held, until a person says that it does not come back', async () => {
  const key = await rig.fundKey();
  const first = await startFrontend();
  const before = await first.run(key);
  const { paymentIntentId, walletAddress } = first.add();
  await waitForState(before, paymentIntentId, 'completed');
  await before.stop();
  const { DATA_DIR = '' } = rig.settingsFor(key);
  rmSync(DATA_DIR, { recursive: true });
  const second = await startFrontend();
  second.frontend.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${AMOUNT}` });
  const after = await second.run(key, [], NEVER_SETTLED);
  await waitForState(after, paymentIntentId, 'completed');
  const txHash = second.txHashOf(paymentIntentId) as string;
  expect(txHash).toBe(first.txHashOf(paymentIntentId));
  await undo(txHash);
  await waitForState(after, paymentIntentId, 'held');
  expect(codesOf(after)).toContain('PAYOUT_UNKNOWN');
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(0);
  expect(await runCommand(['release', paymentIntentId], { environment: { DATA_DIR }, print: () => undefined })).toBe(0);
  await waitForPayouts(paymentIntentId, 1);
  await waitForState(after, paymentIntentId, 'completed');
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(codesOf(after).filter((code) => code === 'PAYOUT_UNKNOWN')).toHaveLength(1);
  await after.stop();
});

test('what is mined for good loses its calldata and signed bytes, in both journals', async () => {
  const { add, run } = await startFrontend();
  const instance = await run(await rig.fundKey());
  const { paymentIntentId } = add();
  await waitForState(instance, paymentIntentId, 'completed');
  const read = () => instance.relayer.journal.attemptsOf(paymentIntentId).map(({ data }) => `${data}`);
  expect(read()).not.toContain('');
  await rig.client.request({ method: 'anvil_mine', params: ['0x80'] } as never);
  await waitUntil(() => read().every((data) => data === ''), { timeoutMs: TIMEOUT_MS, what: 'the data stays' });
  expect(instance.relayer.journal.listPrunable()).toEqual([]);
  await instance.stop();
});
