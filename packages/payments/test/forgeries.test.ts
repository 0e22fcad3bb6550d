import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { encodePayout } from '../src/chain/marks.ts';
import { computeCreditsOwed } from '../src/payments/computeCredits.ts';
import { startForger } from './rig/forgeTransfers.ts';
import { startScene } from './rig/startScene.ts';

const AMOUNT = 5_000_000n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(() => rig.close());

// Shows PAY-9.
test('a stranger that makes its transaction look like the payout of a payment: it is paid all the same', async () => {
  const key = await rig.fundKey();
  const forger = await startForger(rig, key.address);
  const { creditToken } = rig.deployment;
  const frontend = await rig.startFrontend();
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  const payment = { creditToken, payouts: creditToken, paymentIntentId, walletAddress, credits: OWED };
  const forged = await forger.send(encodePayout(payment).data);
  const scene = await startScene(rig, { key, frontend });
  await scene.waitForAll();
  expect(scene.txHashOf(paymentIntentId)).not.toBe(forged);
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  await scene.instance.stop();
});
