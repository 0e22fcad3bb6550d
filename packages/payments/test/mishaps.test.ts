import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stablecoinAbi } from '@prism-gateway/contracts';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { numberToHex, toFunctionSelector, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { type CallParameter, refuseTogether } from './rig/refuseTogether.ts';
import { runInstance } from './rig/runInstance.ts';
import { startLine } from './rig/startLine.ts';
import { startPoorQuotes } from './rig/startPoorQuotes.ts';
import { codesOf, countBuysOf, startScene } from './rig/startScene.ts';

const RATE = 1000n;
const AMOUNT = 7_000_001n;
const OWED = computeCreditsOwed(AMOUNT, RATE);
const LEASE_MS = 500;

let rig: PaymentsRig;
let key: RigKey;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: LEASE_MS });
});

afterAll(() => rig.close());

beforeEach(async () => {
  key = await rig.fundKey();
});

const start = (overrides: Readonly<Record<string, string>> = {}) => startScene(rig, { key, overrides });

const countStablecoins = () =>
  rig.client.readContract({
    address: rig.deployment.stablecoin,
    abi: stablecoinAbi,
    functionName: 'balanceOf',
    args: [key.address],
  });

const RATE_SELECTOR = toFunctionSelector('rate()');
const QUOTE_SELECTOR = toFunctionSelector('quote(uint256)');
const word = (value: bigint) => numberToHex(value, { size: 32 });

/** A node that tells one rate before the first quote, and as long as there is one, all that follows its first quote another; else the Exchange's. */
async function startPriceProxy(reported: { readonly claimRate: bigint; laterRate?: bigint | undefined }) {
  const counts = new Map<string, number>();
  return await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan(method, _, [call]) {
      if (method !== 'eth_call') return undefined;
      const { data = '0x', to } = call as CallParameter;
      if (to === undefined) return refuseTogether({});
      const selector = data.slice(0, 10);
      const count = (counts.get(selector) ?? 0) + 1;
      counts.set(selector, count);
      const { claimRate, laterRate } = reported;
      const isQuoted = (counts.get(QUOTE_SELECTOR) ?? 0) > 0;
      const isFirst = selector === QUOTE_SELECTOR ? count === 1 : !isQuoted;
      const rate = !isFirst ? laterRate : selector === RATE_SELECTOR ? claimRate : undefined;
      if (rate === undefined) return undefined;
      if (selector === RATE_SELECTOR) return { kind: 'answer', result: word(rate) };
      if (selector !== QUOTE_SELECTOR) return undefined;
      return { kind: 'answer', result: word(computeCreditsOwed(BigInt(`0x${data.slice(10)}`), rate)) };
    },
  });
}

test('the price falls to a tenth between claim and buy: nothing is bought at it, people are alerted, and a new claim takes it', async () => {
  const proxy = await startPriceProxy({ claimRate: RATE });
  await rig.setRate(RATE / 10n);
  const before = await countStablecoins();
  const scene = await start({
    RPC_URL: proxy.url,
    MAX_RETRIES: '1',
    RETRY_DELAY_MS: '20',
    MAX_PAYMENT: `${AMOUNT}`,
    MAX_RATE_DEVIATION_BPS: '9999',
  });
  try {
    const { paymentIntentId, walletAddress } = scene.add(AMOUNT);
    await scene.waitForState(paymentIntentId, 'given back');
    expect(codesOf(scene.instance)).toEqual(['PAYMENT_GIVEN_BACK']);
    expect(await countStablecoins()).toBe(before);
    await scene.waitForAll();
    expect(await rig.creditsOf(walletAddress)).toBe(OWED / 10n);
    expect(await countStablecoins()).toBe(before - AMOUNT);
  } finally {
    await rig.setRate(RATE);
    await scene.instance.stop();
    await proxy.stop();
  }
});

// Shows PAY-4.
test('the price falls to a tenth after a buy within the tolerance: what is missing is not bought at it, and what was bought is used', async () => {
  const reported: { claimRate: bigint; laterRate?: bigint | undefined } = { claimRate: RATE, laterRate: RATE / 10n };
  const proxy = await startPriceProxy(reported);
  await rig.setRate(995n);
  const before = await countStablecoins();
  const scene = await start({
    RPC_URL: proxy.url,
    MAX_RETRIES: '1',
    RETRY_DELAY_MS: '20',
    MAX_RATE_DEVIATION_BPS: '9999',
  });
  const { journal } = scene.instance.relayer;
  try {
    const { paymentIntentId, walletAddress } = scene.add(AMOUNT);
    await scene.waitForState(paymentIntentId, 'given back');
    expect(journal.attemptsOf(paymentIntentId)).toHaveLength(1);
    reported.laterRate = undefined;
    await scene.waitForAll();
    expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(AMOUNT, 995n));
    expect(await countBuysOf(rig, key)).toBe(1);
    expect(await countStablecoins()).toBe(before - AMOUNT);
  } finally {
    await rig.setRate(RATE);
    await scene.instance.stop();
    await proxy.stop();
  }
});

// Shows PAY-6.
test('a payment that cannot be bought is given back again and again, and told once', async () => {
  rig.lease.ms = 20;
  try {
    await using proxy = await startPoorQuotes(rig.rpcUrl);
    const { add, frontend, instance } = await start({
      RPC_URL: proxy.url,
      MAX_RETRIES: '0',
      RETRY_DELAY_MS: '20',
      POLL_INTERVAL_MS: '20',
    });
    const { paymentIntentId } = add(AMOUNT);
    const countClaims = () => frontend.store.list()[0]?.claims ?? 0;
    const isAlerted = () => codesOf(instance).length > 0;
    await waitUntil(() => countClaims() > 3 && isAlerted(), { timeoutMs: TIMEOUT_MS, what: 'not claimed again' });
    await instance.stop();
    expect(codesOf(instance)).toEqual(['PAYMENT_GIVEN_BACK']);
    expect(instance.alerts[0]?.subject).toContain(paymentIntentId);
  } finally {
    rig.lease.ms = LEASE_MS;
  }
});

// Shows FRONT-3.
// One that is being replaced, or was restored from an older copy, may not know the path or the payment for a while.
test.each([500, 404])(
  'a frontend that answers each completion with %i: payouts go on, beyond MAX_IN_FLIGHT, and it learns all later',
  async (status) => {
    const frontend = await rig.startFrontend();
    const line = await startLine(() => frontend.url);
    line.refuse('/api/relayer/complete', status);
    const scene = await startScene(rig, { key, frontend, overrides: { FRONTEND_URL: line.url, MAX_IN_FLIGHT: '1' } });
    const payments = [1n, 2n, 3n].map((more) => scene.add(AMOUNT + more));
    for (const { paymentIntentId } of payments) await scene.waitForState(paymentIntentId, 'transferred');
    line.refuse(undefined);
    await scene.waitForAll();
    for (const { walletAddress } of payments) expect(await rig.creditsOf(walletAddress)).toBeGreaterThanOrEqual(OWED);
    await scene.instance.stop();
    await line.close();
  },
);

test('the disk is full for alerts and payments alike: the process lives, tells so once, and goes on', async () => {
  const { add, instance, settings, waitForState } = await start({ LATE_AFTER_MINUTES: '1' });
  using disk = new DatabaseSync(join(settings.DATA_DIR ?? '', 'payments.db'), { timeout: 2000 });
  const tables = ['payments', 'facts', 'alerts', 'conditions', 'moves'];
  for (const table of tables)
    disk.exec(`CREATE TRIGGER full_${table} BEFORE INSERT ON ${table}
      BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  const { paymentIntentId, walletAddress } = add(AMOUNT);
  const isReported = () => instance.reported.some(({ code }) => code === 'JOURNAL_FAILED');
  await waitUntil(isReported, { timeoutMs: TIMEOUT_MS, what: 'not told' });
  for (const table of tables) disk.exec(`DROP TRIGGER full_${table}`);
  await waitForState(paymentIntentId, 'completed');
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  expect(instance.reported).toHaveLength(1);
  expect(codesOf(instance)).toContain('JOURNAL_FAILED_OVER');
  await instance.stop();
});

// Shows PAY-8.
test("wallets that are nobody's: the contracts, Payouts among them, and the relayers are refused", async () => {
  const payouts = await rig.deployPayouts([key.address]);
  const { add, frontend, instance } = await start({ PAYOUTS_ADDRESS: payouts });
  const { creditToken, stablecoin, exchange } = rig.deployment;
  const wallets = [payouts, creditToken, stablecoin, exchange, key.address, zeroAddress];
  for (const [place, walletAddress] of wallets.entries())
    frontend.store.add({ paymentIntentId: `pi_of_nobody_${place}`, walletAddress, stablecoinAmount: '1000000' });
  const { paymentIntentId } = add(1n);
  const isPaid = () => frontend.store.list().find((one) => one.paymentIntentId === paymentIntentId)?.txHash;
  await waitUntil(() => isPaid() !== undefined, { timeoutMs: TIMEOUT_MS, what: 'not paid' });
  expect(codesOf(instance)).toEqual(wallets.map(() => 'PAYMENT_REFUSED'));
  expect(frontend.store.list().filter(({ claims }) => claims > 0)).toHaveLength(1);
  await instance.stop();
});

test('the clock is set back by a day, and then ahead: payments go on, at the rate of now', async () => {
  const realNow = Date.now;
  let aheadMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  const { add, instance, waitForAll } = await start();
  try {
    add(AMOUNT);
    await waitForAll();
    for (const [days, rate] of [
      [-1, 1040n],
      [1, 960n],
    ] as const) {
      aheadMs = days * 86_400_000;
      await rig.setRate(rate);
      const { walletAddress } = add(AMOUNT);
      await waitForAll();
      expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(AMOUNT, rate));
    }
    expect(codesOf(instance)).toEqual([]);
  } finally {
    vi.restoreAllMocks();
    await rig.setRate(RATE);
    await instance.stop();
  }
});

test('two processes of one folder, and a devnet made anew under an existing journal: refused, and why is said', async () => {
  const scene = await start();
  scene.add(AMOUNT);
  await scene.waitForAll();
  const twin = runInstance({ ...scene.settings, LOCK_DIR: join(rig.dir, 'locks-of-another-machine') });
  await expect(twin).rejects.toThrow('Another process has the journal open; stop it first.');
  await scene.instance.stop();
  // Two chains alike that begin within the same second have the same first block.
  await using anew = await startPaymentsRig({ gasLimit: 29_000_000 });
  const [chain, other] = await Promise.all([rig.client.getChainId(), anew.client.getChainId()]);
  expect(chain).toBe(other);
  await expect(runInstance({ ...scene.settings, RPC_URL: anew.rpcUrl })).rejects.toThrow(
    /The journal was kept for the chain whose first block is 0x\w+, not 0x\w+; use another journal/,
  );
});

test('a node that fails right after the first start is reported, though nothing is begun yet', async () => {
  let isFailing = true;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (isFailing && method === 'eth_getLogs' ? { kind: 'serverError' } : undefined),
  });
  const { add, instance, waitForAll } = await start({ RPC_URL: proxy.url });
  const { walletAddress } = add(AMOUNT);
  const isReported = (code: string) => () => codesOf(instance).includes(code);
  await waitUntil(isReported('NODE_SILENT'), { timeoutMs: TIMEOUT_MS, what: 'not told' });
  isFailing = false;
  await waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(OWED);
  await waitUntil(isReported('NODE_SILENT_OVER'), { timeoutMs: TIMEOUT_MS, what: 'not over' });
  expect(codesOf(instance)).toEqual(['NODE_SILENT', 'NODE_SILENT_OVER']);
  await instance.stop();
});
