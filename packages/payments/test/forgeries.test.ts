import { concat, padHex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { encodePayout, markAnnouncement } from '../src/chain/marks.ts';
import { computeCreditsOwed } from '../src/payments/computeCredits.ts';
import { startForger } from './rig/forgeTransfers.ts';
import { codesOf, startScene } from './rig/startScene.ts';

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

test('a stranger that announces a payment takes it from nobody, and nobody waits for it', async () => {
  const [key, peer] = [await rig.fundKey(), await rig.fundKey()];
  const forger = await startForger(rig, key.address);
  const frontend = await rig.startFrontend();
  const { paymentIntentId, walletAddress } = rig.addPayment(AMOUNT, frontend);
  const words = padHex('0x', { size: 64 });
  await forger.send(concat([toFunctionSelector('buy(uint256,uint256)'), words, markAnnouncement(paymentIntentId)]));
  const overrides = { RELAYER_ADDRESSES: peer.address, TAKEOVER_WAIT_MS: '3600000' };
  const scene = await startScene(rig, { key, frontend, overrides });
  await scene.waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(codesOf(scene.instance)).toEqual([]);
  await scene.instance.stop();
});
