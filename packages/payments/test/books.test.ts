import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBlackHole } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { encodePayout, payoutIdOf } from '../src/chain/calls.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { openPaymentJournal } from '../src/journal/openPaymentJournal.ts';
import { runInstance } from './rig/runInstance.ts';
import { codesOf, startScene } from './rig/startScene.ts';

const AMOUNT = 7_000_001n;

let rig: PaymentsRig;
let key: RigKey;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 300 });
});

afterAll(() => rig.close());

beforeEach(async () => {
  key = await rig.fundKey();
});

/** Runs a command; gives its exit code and what it printed. */
async function run(environment: Readonly<Record<string, string>>, ...argv: string[]) {
  const printed: string[] = [];
  const code = await runCommand(argv, { environment, print: (text) => printed.push(text) });
  return { code, text: printed.join('\n') };
}

test('the ledger has a line a payment and the sums of the day; journal, chain, frontend and processor agree', async () => {
  const { settings, instance, add, waitForAll } = await startScene(rig, { key });
  const payments = [add(AMOUNT), add(1_000_000n)];
  await waitForAll();
  await waitUntil(() => instance.relayer.journal.list(['completed']).length === 2, {
    timeoutMs: TIMEOUT_MS,
    what: 'not completed',
  });
  const { text } = await run(settings, 'ledger', '--json');
  const { payments: lines, days } = JSON.parse(text);
  const line = lines.find(
    ({ paymentIntentId }: { paymentIntentId: string }) => paymentIntentId === payments[0]?.paymentIntentId,
  );
  expect(line).toMatchObject({
    stablecoinsOwed: '7.000001',
    stablecoinsSpent: '7.000001',
    creditsBought: '7000.001',
    creditsPaid: '7000.001',
    rate: '1000',
    instance: key.address,
  });
  expect(line.transactions.split(' ')).toHaveLength(2);
  expect(Number(line.gas)).toBeGreaterThan(0);
  expect(days).toMatchObject([{ payments: 2, stablecoinsOwed: '8.000001', creditsPaid: '8000.001' }]);
  expect((await run(settings, 'ledger', '--csv')).text.split('\n')).toHaveLength(3);
  const processor = join(rig.dir, 'processor.csv');
  const rows = payments.map(({ paymentIntentId }, index) => `${paymentIntentId},${index === 0 ? '7.000001' : '1.00'}`);
  writeFileSync(processor, ['id,amount', ...rows].join('\n'));
  const clean = await run(settings, 'reconcile', '--processor', processor);
  expect(clean).toEqual({ code: 0, text: 'Journal, chain and frontend agree.' });
  writeFileSync(processor, ['id,amount', `${rows[0]}`, `${rows[0]}`, 'pi_unknown,5.00'].join('\n'));
  const found = await run(settings, 'reconcile', '--processor', processor);
  expect(found.code).toBe(1);
  expect(found.text).toContain('the processor has it, and the journal does not');
  expect(found.text).toContain('it is paid, and the processor does not have it');
  expect(found.text).toContain('the processor has it 2 times');
  const status = await run(settings, 'status');
  expect(status.text).toContain(`in ${settings.DATA_DIR}`);
  expect(status.text).toMatch(/stablecoins: [\d,]+\.\d\d/);
  await instance.stop();
  // Neither the node's address nor a key is in any file, and nobody else can read them.
  for (const name of readdirSync(`${settings.DATA_DIR}`, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.name.startsWith('payments.db'),
  )) {
    const file = join(name.parentPath, name.name);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file).includes(rig.rpcUrl)).toBe(false);
    expect(readFileSync(file).includes(key.privateKey.slice(2))).toBe(false);
  }
});

test('reconcile tells what the journal cannot know: payouts by hand, and what the frontend lists otherwise', async () => {
  const scene = await startScene(rig, { key });
  const [paid, unpaid] = [scene.add(AMOUNT), rig.addPayment(AMOUNT, await rig.startFrontend())];
  await scene.waitForAll();
  await scene.instance.stop();
  await rig.giveCredits(key.address, 10n ** 18n);
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  const { creditToken } = rig.deployment;
  for (const payment of [paid, unpaid]) {
    const hash = await wallet.sendTransaction({
      ...encodePayout({ creditToken, ...payment, credits: 5n }),
      chain: null,
    });
    await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  }
  const frontend = await rig.startFrontend();
  frontend.store.add({ ...paid, stablecoinAmount: '1' });
  const found = await run({ ...scene.settings, FRONTEND_URL: frontend.url }, 'reconcile', '--json');
  expect(found.code).toBe(1);
  const differences = JSON.parse(found.text).map(({ what }: { what: string }) => what.replace(/0x\w+/g, '0x'));
  expect(differences).toEqual([
    'it has 2 payouts on the chain: 0x, 0x',
    `0x has paid 0.000000000000000005 credits to 0x, and the journal has no such payment`,
    'it is paid, and the frontend lists it as pending',
    'the frontend lists 0.000001, and the journal has 7.000001',
  ]);
});

test('a person approves one payment over the limit, holds another, and closes a third; who and why are kept', async () => {
  const { settings, instance, add, waitForState, frontend } = await startScene(rig, {
    key,
    overrides: { MAX_PAYMENT: '2000000' },
  });
  const big = add(AMOUNT);
  await waitForState(big.paymentIntentId, 'held');
  expect(JSON.parse((await run(settings, 'status', '--json')).text).oldest.payment).toBe(big.paymentIntentId);
  const released = await run(
    settings,
    'release',
    big.paymentIntentId,
    '--why',
    'the customer is known',
    '--who',
    'ada',
  );
  expect(released.code).toBe(0);
  await waitForState(big.paymentIntentId, 'completed');
  expect(await rig.creditsOf(big.walletAddress)).toBe(computeCreditsOwed(AMOUNT, 1000n));
  const other = add(AMOUNT);
  await waitForState(other.paymentIntentId, 'held');
  await expect(run(settings, 'close', other.paymentIntentId)).rejects.toThrow('--refunded');
  expect((await run(settings, 'close', other.paymentIntentId, '--refunded', '--why', 'refunded')).code).toBe(0);
  const shown = (await run(settings, 'show', big.walletAddress)).text;
  expect(shown).toContain('ada has released it: the customer is known');
  expect(instance.relayer.journal.get(other.paymentIntentId)?.state).toBe('closed');
  await expect(run(settings, 'hold', other.paymentIntentId)).rejects.toThrow('only one that is not begun');
  await instance.stop();
  expect(frontend.store.list().filter(({ txHash }) => txHash !== undefined)).toHaveLength(1);
});

test('a backup made at work, restored later: the key has gone on since, payouts stop until a person resumes, none is made twice', async () => {
  const scene = await startScene(rig, { key });
  const first = scene.add(AMOUNT);
  await scene.waitForAll();
  const target = join(rig.dir, `backup-${key.address}`);
  expect((await run(scene.settings, 'backup', target)).code).toBe(0);
  const second = scene.add(AMOUNT);
  await scene.waitForAll();
  await scene.instance.stop();
  const folder = `${scene.settings.DATA_DIR}`;
  rmSync(folder, { recursive: true });
  const restored = { ...scene.settings, DATA_DIR: target };
  expect(existsSync(join(target, 'sender.db'))).toBe(true);
  const again = await rig.startFrontend();
  for (const { paymentIntentId, walletAddress } of [first, second])
    again.store.add({ paymentIntentId, walletAddress, stablecoinAmount: `${AMOUNT}` });
  const instance = await runInstance({ ...restored, FRONTEND_URL: again.url });
  await waitUntil(() => codesOf(instance).includes('KEY_USED_ELSEWHERE'), { timeoutMs: TIMEOUT_MS, what: 'no alert' });
  await run(restored, 'resume', '--why', 'restored, nobody else has the key');
  await waitUntil(() => again.store.list().every(({ txHash }) => txHash !== undefined), {
    timeoutMs: TIMEOUT_MS,
    what: 'not completed',
  });
  for (const { paymentIntentId } of [first, second])
    expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
  await instance.stop();
});

test('a disk that is lost lifts no limit of the day, and a journal of another key is refused', async () => {
  const overrides = { DAILY_LIMIT: `${AMOUNT + 1n}` };
  const scene = await startScene(rig, { key, overrides });
  scene.add(AMOUNT);
  await scene.waitForAll();
  await scene.instance.stop();
  rmSync(`${scene.settings.DATA_DIR}`, { recursive: true });
  const after = await startScene(rig, { key, overrides });
  const { paymentIntentId } = after.add(AMOUNT);
  await after.waitForState(paymentIntentId, 'held');
  expect(after.instance.relayer.journal.get(paymentIntentId)?.reason).toContain('DAILY_LIMIT');
  await after.instance.stop();
  const other = await rig.fundKey();
  await expect(runInstance({ ...rig.settingsFor(other), DATA_DIR: `${after.settings.DATA_DIR}` })).rejects.toThrow(
    'DATA_DIR holds the journal of',
  );
});

test('a node that does not answer is no difference in the books, and its URL is in no output and no error', async () => {
  const scene = await startScene(rig, { key });
  scene.add(AMOUNT);
  await scene.waitForAll();
  await scene.instance.stop();
  await using hole = await startBlackHole();
  const away = { ...scene.settings, RPC_URL: `${hole.url}/v1/a-key-in-the-path`, RPC_TIMEOUT_MS: '100' };
  const status = await run(away, 'status', '--json');
  expect(JSON.parse(status.text).balances.node).toMatch(/no answer within 100 ms.*RPC_URL names it/);
  const failed = await run(away, 'reconcile').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(Error);
  for (let at = failed; at instanceof Error; at = at.cause)
    expect(`${at.message} ${at.stack} ${JSON.stringify(at)}`).not.toContain('a-key-in-the-path');
  expect(status.text).not.toContain('a-key-in-the-path');
});

test('a payment of a backup that was paid since counts against the day; one that a person holds is not begun', async () => {
  const scene = await startScene(rig, { key });
  const paid = scene.add(AMOUNT);
  await scene.waitForAll();
  await scene.instance.stop();
  // As if the backup had been made after it was listed, and before it was claimed.
  const folder = join(rig.dir, `restored-${key.address}`);
  mkdirSync(folder);
  const held = rig.addPayment(AMOUNT, await rig.startFrontend());
  const journal = openPaymentJournal({ file: join(folder, 'payments.db'), now: Date.now });
  for (const payment of [paid, held]) journal.add({ ...payment, stablecoinAmount: AMOUNT });
  journal.close();
  const frontend = await rig.startFrontend();
  const restored = { ...scene.settings, DATA_DIR: folder, FRONTEND_URL: frontend.url };
  const reported = await run(restored, 'hold', held.paymentIntentId, '--why', 'a dispute', '--json');
  expect(JSON.parse(reported.text)).toMatchObject({ paymentIntentId: held.paymentIntentId });
  const instance = await runInstance(restored);
  const today = new Date().toISOString().slice(0, 10);
  const countSpent = () => instance.relayer.journal.fact(`spent before the journal: ${today}`);
  await waitUntil(() => countSpent() !== undefined, { timeoutMs: TIMEOUT_MS, what: 'not counted' });
  expect(countSpent()).toBe(`${computeCreditsOwed(AMOUNT, 1000n)}`);
  frontend.store.add({ ...held, stablecoinAmount: `${AMOUNT}` });
  frontend.store.add({ ...rig.addPayment(AMOUNT, await rig.startFrontend()), stablecoinAmount: `${AMOUNT}` });
  await waitUntil(() => frontend.store.list().some(({ txHash }) => txHash !== undefined), {
    timeoutMs: TIMEOUT_MS,
    what: 'the other is not paid',
  });
  expect(instance.relayer.journal.get(held.paymentIntentId)).toMatchObject({ state: 'held', attempts: 0 });
  await instance.stop();
});
