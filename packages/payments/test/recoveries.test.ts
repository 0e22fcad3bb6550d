import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { type RunningInstance, runInstance } from './rig/runInstance.ts';
import { startPoorQuotes } from './rig/startPoorQuotes.ts';
import { codesOf, startScene } from './rig/startScene.ts';

const AMOUNT = 7_000_001n;

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 200 });
});

afterAll(() => rig.close());

const countOver = (...instances: readonly RunningInstance[]) =>
  instances.flatMap(codesOf).filter((code) => code === 'PAYMENT_OVER').length;

const waitForOver = (instance: RunningInstance, count: number) =>
  waitUntil(() => countOver(instance) >= count, { timeoutMs: TIMEOUT_MS, what: `not over: ${codesOf(instance)}` });

test('held, then paid; held, then closed by a person: each is told to be over, once, after a restart too', async () => {
  const key = await rig.fundKey();
  const { add, instance, settings, waitForState } = await startScene(rig, {
    key,
    overrides: { MAX_PAYMENT: '2000000' },
  });
  const held = add(AMOUNT);
  await waitForState(held.paymentIntentId, 'held');
  expect(codesOf(instance)).toEqual(['PAYMENT_OVER_LIMIT']);
  await instance.stop();
  const raised = await runInstance({ ...settings, MAX_PAYMENT: `${AMOUNT}` });
  await waitForOver(raised, 1);
  expect(await rig.creditsOf(held.walletAddress)).toBe(computeCreditsOwed(AMOUNT, 1000n));
  await raised.stop();
  const limited = await runInstance({ ...settings, MAX_PAYMENT: '1' });
  const refunded = add(2n);
  await waitUntil(() => limited.relayer.journal.get(refunded.paymentIntentId)?.state === 'held', {
    timeoutMs: TIMEOUT_MS,
    what: 'not held',
  });
  const close = ['close', refunded.paymentIntentId, '--refunded', '--why', 'the customer asked'];
  const environment = { DATA_DIR: `${settings.DATA_DIR}` };
  expect(await runCommand(close, { environment, print: () => undefined })).toBe(0);
  await waitForOver(limited, 1);
  expect(limited.alerts.at(-1)).toMatchObject({
    severity: 'info',
    subject: `Payment ${refunded.paymentIntentId} is over`,
  });
  expect(limited.alerts.at(-1)?.text).toContain('A person has closed it');
  await limited.stop();
  const last = await runInstance({ ...settings, MAX_PAYMENT: '1' });
  const one = add(1n);
  await waitUntil(() => last.relayer.journal.get(one.paymentIntentId)?.state === 'completed', {
    timeoutMs: TIMEOUT_MS,
    what: 'not completed',
  });
  expect([countOver(raised), countOver(limited), countOver(last)]).toEqual([1, 1, 0]);
  await last.stop();
});

test('held or given back here, and paid by another instance: over as well, and the one that was held waits for nobody', async () => {
  const [key, other] = [await rig.fundKey(), await rig.fundKey()];
  await using poor = await startPoorQuotes(rig.rpcUrl);
  const PAYOUTS_ADDRESS = await rig.deployPayouts([key.address, other.address]);
  const { add, frontend, instance, settings, waitForState } = await startScene(rig, {
    key,
    overrides: {
      RPC_URL: poor.url,
      RELAYER_ADDRESSES: other.address,
      PAYOUTS_ADDRESS,
      MAX_PAYMENT: `${AMOUNT}`,
      MAX_RETRIES: '0',
      RETRY_DELAY_MS: '600000',
    },
  });
  const [given, held] = [add(AMOUNT), add(AMOUNT + 1n)];
  await waitForState(given.paymentIntentId, 'given back');
  await waitForState(held.paymentIntentId, 'held');
  const peer = await runInstance({ ...rig.settingsFor(other, [key.address], frontend), PAYOUTS_ADDRESS });
  await waitForState(held.paymentIntentId, 'completed');
  await waitForOver(instance, 2);
  expect(instance.relayer.journal.get(given.paymentIntentId)?.state).toBe('given back');
  // On a loaded machine a frontend may be silent for a moment.
  expect(
    codesOf(instance)
      .filter((code) => code.startsWith('PAYMENT_'))
      .toSorted(),
  ).toEqual(['PAYMENT_GIVEN_BACK', 'PAYMENT_OVER', 'PAYMENT_OVER', 'PAYMENT_OVER_LIMIT']);
  for (const { walletAddress } of [given, held]) expect(await rig.creditsOf(walletAddress)).toBeGreaterThan(0n);
  await instance.stop();
  // What the journal was searched for counts, though the command is not given the other's address.
  const environment = { ...settings, RPC_URL: rig.rpcUrl, RELAYER_ADDRESSES: '' };
  const printed: string[] = [];
  expect(await runCommand(['reconcile'], { environment, print: (text) => printed.push(text) }), `${printed}`).toBe(0);
  const again = await runInstance({ ...settings, RPC_URL: rig.rpcUrl });
  await peer.stop();
  const { paymentIntentId } = add(1n);
  await waitUntil(() => again.relayer.journal.get(paymentIntentId)?.state === 'completed', {
    timeoutMs: TIMEOUT_MS,
    what: 'not completed',
  });
  expect(countOver(again, peer)).toBe(0);
  await again.stop();
});
