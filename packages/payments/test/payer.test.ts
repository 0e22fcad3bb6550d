import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { payoutIdOf } from '../src/chain/calls.ts';
import { describePayment } from '../src/cli/describePayments.ts';
import { runInstance } from './rig/runInstance.ts';
import { codesOf, countBuysOf, startScene } from './rig/startScene.ts';

const RATE = 1000n;
const AMOUNT = 7_000_001n;
const OWED = computeCreditsOwed(AMOUNT, RATE);

let rig: PaymentsRig;
let key: RigKey;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 500 });
});

afterAll(() => rig.close());

beforeEach(async () => {
  key = await rig.fundKey();
});

const start = (overrides: Readonly<Record<string, string>> = {}) => startScene(rig, { key, overrides });

const countBuys = () => countBuysOf(rig, key);

// Shows PAY-1, PAY-9.
test('a payment is bought, paid with its payout id, and completed with that very transaction', async () => {
  const { add, waitForAll, txHashOf, instance } = await start();
  const { paymentIntentId, walletAddress } = add(AMOUNT);
  await waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  // The hash that the frontend was notified of.
  const transaction = await rig.client.getTransaction({ hash: txHashOf(paymentIntentId) as `0x${string}` });
  expect(transaction.input.endsWith(payoutIdOf(paymentIntentId).slice(2))).toBe(true);
  expect(instance.relayer.journal.movesOf(paymentIntentId).map(({ to }) => to)).toEqual([
    'seen',
    'claimed',
    'buying',
    'bought',
    'transferring',
    'transferred',
    'completed',
  ]);
  expect([...instance.relayer.journal.countStates()]).toEqual([['completed', 1]]);
  // Each has gas for balances that are emptied before it.
  for (const { txHash } of instance.relayer.journal.attemptsOf(paymentIntentId)) {
    const hash = txHash as `0x${string}`;
    const [{ gas }, { gasUsed }] = [
      await rig.client.getTransaction({ hash }),
      await rig.client.getTransactionReceipt({ hash }),
    ];
    expect(gas).toBeGreaterThanOrEqual(gasUsed + 34_200n);
  }
  await instance.stop();
});

// Shows PAY-3.
test('credits in hand make the buy needless for one payment, and only for one', async () => {
  await rig.giveCredits(key.address, OWED + 5n);
  const { add, waitForAll, instance } = await start({ MAX_IN_FLIGHT: '1' });
  const wallets = [add(AMOUNT), add(AMOUNT), add(AMOUNT)];
  await waitForAll();
  for (const { walletAddress } of wallets) expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(await countBuys()).toBe(2);
  expect(await rig.creditsOf(key.address)).toBe(5n);
  await instance.stop();
});

// Shows PAY-3.
test('with several payments at once, credits in hand are promised to one at most', async () => {
  await rig.giveCredits(key.address, OWED);
  const { add, waitForAll, instance } = await start();
  const wallets = Array.from({ length: 6 }, () => add(AMOUNT));
  await waitForAll();
  for (const { walletAddress } of wallets) expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(await rig.creditsOf(key.address)).toBe(OWED * BigInt((await countBuys()) - 5));
  await instance.stop();
});

// Shows PAY-4.
test('the price moved within the tolerance: the wallet gets all that it is owed', async () => {
  const { add, waitForAll, instance } = await start({ MAX_IN_FLIGHT: '1' });
  // Two claims, the second after the rate has fallen by half a per cent; what each is owed is settled by its claim.
  const { walletAddress, paymentIntentId } = add(AMOUNT);
  await rig.setRate(995n);
  try {
    await waitForAll();
    const owed = instance.relayer.journal.get(paymentIntentId)?.creditsOwed;
    expect(await rig.creditsOf(walletAddress)).toBe(owed);
  } finally {
    await rig.setRate(RATE);
    await instance.stop();
  }
});

// Shows PAY-7.
test('over a limit a payment is held and told once, and paid once the limit allows it', async () => {
  const { add, waitForAll, waitForState, instance, settings } = await start({ MAX_PAYMENT: `${AMOUNT - 1n}` });
  const { paymentIntentId, walletAddress } = add(AMOUNT);
  await waitForState(paymentIntentId, 'held');
  expect(
    instance.relayer.journal
      .list(['held'])
      .map((payment) => describePayment(payment).reason)
      .join(),
  ).toContain('over MAX_PAYMENT');
  await instance.stop();
  expect(codesOf(instance)).toEqual(['PAYMENT_OVER_LIMIT']);
  const raised = await runInstance({ ...settings, MAX_PAYMENT: `${AMOUNT}` });
  await waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  await raised.stop();
});

// Shows PAY-7.
test('the day is full: what fits is paid, the rest is held', async () => {
  const { add, waitForState, instance } = await start({ DAILY_LIMIT: `${2n * AMOUNT}` });
  const payments = [add(AMOUNT), add(AMOUNT), add(AMOUNT)];
  const countBy = (state: string) =>
    payments.filter(({ paymentIntentId }) => instance.relayer.journal.get(paymentIntentId)?.state === state).length;
  await waitUntil(() => countBy('completed') === 2 && countBy('held') === 1, {
    timeoutMs: TIMEOUT_MS,
    what: 'two and one',
  });
  const held = payments.find(({ paymentIntentId }) => instance.relayer.journal.get(paymentIntentId)?.state === 'held');
  await waitForState(held?.paymentIntentId ?? '', 'held');
  expect(await rig.creditsOf(held?.walletAddress ?? '0x')).toBe(0n);
  expect(codesOf(instance)).toEqual(['PAYMENT_OVER_LIMIT']);
  await instance.stop();
});

// Shows PAY-2.
test('bad data is refused, told once, and never paid; good data beside it is', async () => {
  const { frontend, add, txHashOf, instance } = await start();
  const bad = { paymentIntentId: 'pi_bad', walletAddress: '', stablecoinAmount: '1000000' };
  frontend.store.add(bad);
  frontend.store.add({ ...bad, paymentIntentId: 'pi_zero', walletAddress: key.address, stablecoinAmount: '0' });
  const good = add(AMOUNT);
  await waitUntil(() => txHashOf(good.paymentIntentId) !== undefined, { timeoutMs: TIMEOUT_MS, what: 'the good one' });
  expect(txHashOf('pi_bad')).toBeUndefined();
  expect(frontend.store.list().filter(({ claims }) => claims > 0)).toHaveLength(1);
  expect(codesOf(instance)).toEqual(['PAYMENT_REFUSED', 'PAYMENT_REFUSED']);
  await instance.stop();
});

// Shows PAY-5.
test('gas above the limit: nothing is begun, one alert, and it goes on afterwards', async () => {
  const { add, waitForAll, instance, frontend } = await start({ MAX_FEE_GWEI: '0.000000001' });
  add(AMOUNT);
  await waitUntil(() => codesOf(instance).includes('GAS_PRICE_TOO_HIGH'), { timeoutMs: TIMEOUT_MS, what: 'no alert' });
  expect(frontend.store.list()[0]?.claims).toBe(0);
  await instance.stop();
  const cheap = await runInstance({ ...rig.settingsFor(key, [], frontend) });
  await waitForAll();
  await cheap.stop();
});

test('no secret is in the log, whatever fails', async () => {
  const { add, instance, waitForAll } = await start();
  add(AMOUNT);
  await waitForAll();
  await instance.stop();
  const text = JSON.stringify(instance.log.lines);
  for (const secret of [rig.secret, key.privateKey, key.privateKey.slice(2)]) expect(text).not.toContain(secret);
});
