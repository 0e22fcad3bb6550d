import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { startReferenceFrontend } from '../src/referenceFrontend/startReferenceFrontend.ts';
import { codesOf, startScene } from './rig/startScene.ts';

const AMOUNT = 7_000_001n;
const OWED = computeCreditsOwed(AMOUNT, 1000n);
const LEASE_MS = 300;

let rig: PaymentsRig;
let key: RigKey;

beforeAll(async () => {
  rig = await startPaymentsRig();
});

afterAll(() => rig.close());

beforeEach(async () => {
  key = await rig.fundKey();
});

/** Without `0x`: it may stand within a call that reads several contracts. */
const QUOTE_SELECTOR = toFunctionSelector('quote(uint256)').slice(2);

/** An instance, a frontend that may change its mind, and a node that takes no transactions while it is told so. */
async function startBlocked() {
  const node = { isDeaf: false, hasQuotes: true };
  const proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan(method, _, [call]) {
      if (node.isDeaf && method === 'eth_sendRawTransaction') return { kind: 'serverError' };
      if (node.hasQuotes || !JSON.stringify(call ?? '').includes(QUOTE_SELECTOR)) return undefined;
      return { kind: 'error', code: -32_005, message: 'busy' };
    },
  });
  const overrides = { RPC_URL: proxy.url, RETRY_DELAY_MS: '20', MAX_RETRIES: '1000' };
  const file = join(rig.dir, `${key.address}-frontend.db`);
  const frontend = await startReferenceFrontend({ file, secret: rig.secret, leaseMs: () => LEASE_MS });
  const scene = await startScene(rig, { key, overrides, frontend });
  const add = async (state: string) => {
    const payment = rig.addPayment(AMOUNT, frontend);
    await scene.waitForState(payment.paymentIntentId, state);
    return payment;
  };
  const waitForAlerts = (count: number) =>
    waitUntil(() => scene.instance.alerts.length === count, { timeoutMs: TIMEOUT_MS, what: 'no alert' });
  const stop = async () => {
    await scene.instance.stop();
    await frontend.close();
    await proxy.stop();
  };
  const listOtherwise = (paymentIntentId: string, stablecoinAmount: string) => {
    using database = new DatabaseSync(file, { timeout: 2000 });
    const update = database.prepare('UPDATE payments SET stablecoin_amount = ? WHERE payment_intent_id = ?');
    update.run(stablecoinAmount, paymentIntentId);
  };
  return { ...scene, node, add, listOtherwise, waitForAlerts, stop };
}

// Shows PAY-8.
test('24 that are refused at first sight: each has a row that is found, counted and reminded of by name', async () => {
  const realNow = Date.now;
  let aheadMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  const scene = await startScene(rig, { key });
  const { journal } = scene.instance.relayer;
  const ids = Array.from({ length: 24 }, (_, place) => `pi_unfit_${place}.`);
  for (const paymentIntentId of ids)
    scene.frontend.store.add({ paymentIntentId, walletAddress: 'nobody', stablecoinAmount: '1000000' });
  try {
    await waitUntil(() => journal.countStates().get('refused') === ids.length, {
      timeoutMs: TIMEOUT_MS,
      what: 'no rows',
    });
    expect(codesOf(scene.instance)).toEqual(ids.map(() => 'PAYMENT_REFUSED'));
    const printed: string[] = [];
    for (const words of [['show', ids[0] ?? ''], ['list', '--state', 'refused'], ['status']])
      await runCommand(words, { environment: scene.settings, print: (text) => printed.push(text) });
    expect(printed[0]).toContain('refused: Its wallet address is none.');
    for (const id of ids) expect(printed[1]).toContain(id);
    expect(printed[2]).toContain('24 refused');
    aheadMs = 25 * 3_600_000;
    const reminder = () => scene.instance.alerts.find(({ code }) => code === 'PAYMENTS_WAIT_FOR_A_PERSON');
    await waitUntil(() => reminder() !== undefined, { timeoutMs: TIMEOUT_MS, what: 'not reminded' });
    for (const id of ids) expect(reminder()?.text).toContain(id);
  } finally {
    vi.restoreAllMocks();
    await scene.instance.stop();
  }
});

// Shows PAY-8.
test('listed with other values while it is claimed, fit or unfit: told, and neither bought nor paid, until a person accepts them', async () => {
  const { node, add, listOtherwise, waitForAlerts, waitForState, instance, settings, stop } = await startBlocked();
  // No buy can be planned.
  node.hasQuotes = false;
  const payments = [await add('claimed'), await add('claimed'), await add('claimed')] as const;
  const [zero, less, right] = payments.map(({ paymentIntentId }) => paymentIntentId) as [string, string, string];
  listOtherwise(zero, '0');
  listOtherwise(less, '1000000');
  await waitForAlerts(2);
  node.hasQuotes = true;
  await Promise.all([waitForState(zero, 'refused'), waitForState(less, 'refused'), waitForState(right, 'completed')]);
  expect(codesOf(instance)).toEqual(['PAYMENT_REFUSED', 'PAYMENT_REFUSED']);
  expect([zero, less].map((id) => instance.relayer.journal.attemptsOf(id))).toEqual([[], []]);
  // A person says that the new values are the right ones.
  const environment = { DATA_DIR: settings.DATA_DIR ?? '' };
  const release = ['release', less, '--accept-listed', '--why', 'the customer had paid less'];
  expect(await runCommand(release, { environment, print: () => undefined })).toBe(0);
  await waitForState(less, 'completed');
  expect(await rig.creditsOf(payments[1].walletAddress)).toBe(computeCreditsOwed(1_000_000n, 1000n));
  await stop();
});

// Shows PAY-8.
test('listed with other values while it is bought: not paid; while it is paid: told that it is too late', async () => {
  const { node, add, listOtherwise, waitForAlerts, waitForState, instance, stop } = await startBlocked();
  node.isDeaf = false;
  await add('completed');
  node.isDeaf = true;
  const first = await add('buying');
  listOtherwise(first.paymentIntentId, '1000000');
  await waitForAlerts(1);
  node.isDeaf = false;
  await waitForState(first.paymentIntentId, 'refused');
  expect(await rig.creditsOf(key.address)).toBe(OWED);
  node.isDeaf = true;
  const second = await add('transferring');
  listOtherwise(second.paymentIntentId, '1000000');
  await waitForAlerts(2);
  node.isDeaf = false;
  await waitForState(second.paymentIntentId, 'completed');
  expect(codesOf(instance)).toEqual(['PAYMENT_REFUSED', 'PAYMENT_REFUSED_LATE']);
  expect([await rig.creditsOf(first.walletAddress), await rig.creditsOf(second.walletAddress)]).toEqual([0n, OWED]);
  await stop();
});
