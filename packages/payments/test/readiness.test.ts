import { creditTokenAbi, payoutsAbi } from '@prism-gateway/contracts';
import {
  bareExchangeAbi,
  bareExchangeBytecode,
  greedyExchangeAbi,
  greedyExchangeBytecode,
  stubbornStablecoinAbi,
  stubbornStablecoinBytecode,
} from '@prism-gateway/devnet/test-tokens';
import { startRpcFaultProxy } from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { type Address, createWalletClient, type Hex, http, maxUint256, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaymentsRig, type RigKey, startPaymentsRig } from '../scripts/demo/startPaymentsRig.ts';
import { waitUntil } from '../scripts/demo/waitUntil.ts';
import { computeCreditsOwed } from '../src/amounts/computeCredits.ts';
import { bindPayoutId, payoutIdOf } from '../src/chain/calls.ts';
import { runCommand } from '../src/cli/runCommand.ts';
import { hashFrontendId } from '../src/payerConfig.ts';
import { startPoorQuotes } from './rig/startPoorQuotes.ts';
import { codesOf, startScene } from './rig/startScene.ts';

const AMOUNT = 1_400_000_000n;
const RATE = 1000n;

let rig: PaymentsRig;

beforeAll(async () => {
  rig = await startPaymentsRig({ leaseMs: 600_000 });
});

afterAll(() => rig.close());

/** Has a key call a token. */
async function callToken(
  key: RigKey,
  call: {
    readonly token: Address;
    readonly functionName: 'approve' | 'transfer';
    readonly args: readonly [Address, bigint];
  },
): Promise<void> {
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  const { token: address, functionName, args } = call;
  const hash = await wallet.writeContract({ address, abi: creditTokenAbi, functionName, args, chain: null });
  await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

const balanceOf = (token: Address, owner: Address) =>
  rig.client.readContract({ address: token, abi: creditTokenAbi, functionName: 'balanceOf', args: [owner] });

const waitForAlert = ({ instance }: Awaited<ReturnType<typeof startScene>>, code: string) =>
  waitUntil(() => codesOf(instance).includes(code), { timeoutMs: TIMEOUT_MS, what: `no alert ${code}` });

test('a broke instance claims nothing and tells; a funded one beside it pays at once; refilled, it says so', async () => {
  const { stablecoin } = rig.deployment;
  const [broke, funded] = [await rig.fundKey(), await rig.fundKey()];
  const all = await balanceOf(stablecoin, broke.address);
  await callToken(broke, { token: stablecoin, functionName: 'transfer', args: [funded.address, all] });
  const frontend = await rig.startFrontend();
  const poor = await startScene(rig, { key: broke, frontend, overrides: { MAX_PAYMENT: '2000000000' } });
  const payment = poor.add(AMOUNT);
  await waitForAlert(poor, 'OUT_OF_STABLECOINS');
  const { text } = poor.instance.alerts.find(({ code }) => code === 'OUT_OF_STABLECOINS') ?? { text: '' };
  expect(text).toContain('has 0.00, and 1 payments wait for 1,400.00');
  expect(frontend.store.list()[0]?.claims).toBe(0);
  const rich = await startScene(rig, { key: funded, frontend, overrides: { MAX_PAYMENT: '2000000000' } });
  await rich.waitForAll();
  expect(frontend.store.list()[0]?.claims).toBe(1);
  // What the other has paid waits here no more.
  const isGone = () => poor.instance.relayer.journal.listWaiting().length === 0;
  await waitUntil(isGone, { timeoutMs: TIMEOUT_MS, what: 'it still waits' });
  expect(await rig.creditsOf(payment.walletAddress)).toBe(computeCreditsOwed(AMOUNT, RATE));
  await rich.instance.stop();
  await callToken(funded, { token: stablecoin, functionName: 'transfer', args: [broke.address, AMOUNT] });
  poor.add(1_000_000n);
  await poor.waitForAll();
  await waitForAlert(poor, 'OUT_OF_STABLECOINS_OVER');
  await poor.instance.stop();
});

test('a token that changes no allowance but from zero is approved all the same; an exchange with `buy` alone sells at EXCHANGE_RATE', async () => {
  const { creditToken } = rig.deployment;
  const stablecoin = await rig.deploy({ abi: stubbornStablecoinAbi, bytecode: stubbornStablecoinBytecode, args: [] });
  const exchange = await rig.deploy({
    abi: bareExchangeAbi,
    bytecode: bareExchangeBytecode,
    args: [stablecoin, creditToken, RATE],
  });
  await rig.giveCredits(exchange, 10n ** 24n);
  const key = await rig.fundKey();
  const wallet = createWalletClient({ account: privateKeyToAccount(key.privateKey), transport: http(rig.rpcUrl) });
  const mint = { address: stablecoin, abi: stubbornStablecoinAbi, functionName: 'mint' } as const;
  const hash = await wallet.writeContract({ ...mint, args: [key.address, 10n ** 12n], chain: null });
  await rig.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  await callToken(key, { token: stablecoin, functionName: 'approve', args: [exchange, 5n] });
  const scene = await startScene(rig, {
    key,
    overrides: { STABLECOIN_ADDRESS: stablecoin, EXCHANGE_ADDRESS: exchange },
  });
  const { walletAddress } = scene.add(2_000_000n);
  await scene.waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(2_000_000n, RATE));
  const read = { address: stablecoin, abi: stubbornStablecoinAbi, functionName: 'allowance' } as const;
  expect(await rig.client.readContract({ ...read, args: [key.address, exchange] })).toBeGreaterThan(maxUint256 / 2n);
  await scene.instance.stop();
});

test('a rate too far from EXCHANGE_RATE, and contracts that are none: nothing is claimed, and people are alerted', async () => {
  const scene = await startScene(rig, { key: await rig.fundKey(), overrides: { EXCHANGE_RATE: '1060' } });
  scene.add(1_000_000n);
  await waitForAlert(scene, 'RATE_DEVIATES');
  expect(scene.frontend.store.list()[0]?.claims).toBe(0);
  await scene.instance.stop();
  const nowhere = await rig.fundKey();
  const lost = await startScene(rig, { key: await rig.fundKey(), overrides: { EXCHANGE_ADDRESS: nowhere.address } });
  lost.add(1_000_000n);
  await waitForAlert(lost, 'CONTRACTS_WRONG');
  expect(lost.frontend.store.list()[0]?.claims).toBe(0);
  await lost.instance.stop();
});

/** Has the Exchange's storage say another rate: its owner can set any but 0, and an upgrade or a fault may leave 0. @returns sets it */
async function openRate(): Promise<(rate: bigint) => Promise<void>> {
  const { exchange } = rig.deployment;
  const ask = (method: string, params: readonly unknown[]) => rig.client.request({ method, params } as never);
  const wordOf = (value: bigint | number) => numberToHex(value, { size: 32 });
  for (let slot = 0; slot < 8; slot++) {
    const word = (await ask('eth_getStorageAt', [exchange, wordOf(slot), 'latest'])) as Hex;
    if (BigInt(word) === RATE)
      return async (rate) => void (await ask('anvil_setStorageAt', [exchange, wordOf(slot), wordOf(rate)]));
  }
  throw new Error('no slot holds the rate');
}

// Shows PAY-2, PAY-5.
test('a rate of exactly 0 claims nothing and alerts, though every deviation is allowed; with a rate again it pays', async () => {
  const setRate = await openRate();
  await setRate(0n);
  const scene = await startScene(rig, { key: await rig.fundKey(), overrides: { MAX_RATE_DEVIATION_BPS: '10000' } });
  const { walletAddress } = scene.add(1_000_000n);
  await waitForAlert(scene, 'RATE_DEVIATES');
  const { text } = scene.instance.alerts.find(({ code }) => code === 'RATE_DEVIATES') ?? { text: '' };
  expect(text).toContain('The Exchange gives 0 credits for one stablecoin');
  expect(scene.frontend.store.list()[0]?.claims).toBe(0);
  await setRate(RATE);
  await scene.waitForAll();
  expect(await rig.creditsOf(walletAddress)).toBe(computeCreditsOwed(1_000_000n, RATE));
  await waitForAlert(scene, 'RATE_DEVIATES_OVER');
  await scene.instance.stop();
});

test('gas that costs as much as MAX_FEE_GWEI does not pass', async () => {
  const costs = 7_000_000_000n;
  await using proxy = await startRpcFaultProxy({
    target: rig.rpcUrl,
    plan: (method) => (method === 'eth_gasPrice' ? { kind: 'answer', result: numberToHex(costs) } : undefined),
  });
  const scene = await startScene(rig, {
    key: await rig.fundKey(),
    overrides: { MAX_FEE_GWEI: '7', RPC_URL: proxy.url },
  });
  scene.add(1_000_000n);
  await waitForAlert(scene, 'GAS_PRICE_TOO_HIGH');
  expect(scene.frontend.store.list()[0]?.claims).toBe(0);
  await scene.instance.stop();
});

test('a payment that failed is free for another instance at once, its lease notwithstanding', async () => {
  const frontend = await rig.startFrontend();
  await using proxy = await startPoorQuotes(rig.rpcUrl);
  const failing = await startScene(rig, {
    key: await rig.fundKey(),
    frontend,
    overrides: { MAX_RETRIES: '0', RPC_URL: proxy.url },
  });
  const { paymentIntentId } = failing.add(1_000_000n);
  const isReleased = () =>
    failing.instance.log.lines.some(
      ({ message, fields }) => message === 'claim released' && fields.answer === 'released',
    );
  await waitUntil(isReleased, { timeoutMs: TIMEOUT_MS, what: 'not released' });
  await failing.instance.stop();
  const other = await startScene(rig, { key: await rig.fundKey(), frontend });
  await other.waitForAll();
  expect(await rig.countPayouts(payoutIdOf(paymentIntentId))).toBe(1);
  await other.instance.stop();
});

test('deploy-payouts deploys a contract through which instances pay, once; the key of an instance is refused', async () => {
  const [deployer, payer] = [await rig.fundKey(), await rig.fundKey()];
  const settings = {
    ...rig.settingsFor(payer, [payer.address]),
    FRONTEND_ID: 'https://pay.example.com',
    PAYOUTS_DEPLOYER_PRIVATE_KEY: deployer.privateKey,
  };
  const printed: string[] = [];
  const deploy = (environment: Readonly<Record<string, string>>) =>
    runCommand(['deploy-payouts'], { environment, print: (text) => printed.push(text) });
  await expect(deploy({ ...settings, PAYOUTS_DEPLOYER_PRIVATE_KEY: payer.privateKey })).rejects.toThrow('another key');
  await expect(deploy({ ...settings, CREDIT_TOKEN_ADDRESS: rig.deployment.stablecoin })).rejects.toThrow('18 decimals');
  expect(await deploy(settings)).toBe(0);
  const [, address = ''] = /PAYOUTS_ADDRESS=(0x\w{40})/.exec(printed.join()) ?? [];
  const scene = await startScene(rig, {
    key: payer,
    overrides: { PAYOUTS_ADDRESS: address, FRONTEND_ID: 'https://pay.example.com' },
  });
  const { paymentIntentId } = scene.add(1_000_000n);
  await scene.waitForAll();
  const contract = { address: address as Address, abi: payoutsAbi } as const;
  const payoutId = bindPayoutId(hashFrontendId('https://pay.example.com'), payoutIdOf(paymentIntentId));
  expect(await rig.client.readContract({ ...contract, functionName: 'payerOf', args: [payoutId] })).toBe(payer.address);
  expect(await rig.client.readContract({ ...contract, functionName: 'owner' })).toBe(deployer.address);
  await scene.instance.stop();
});

test.each([
  ['gives a tenth of what was agreed', 100n, 10n, 'held'],
  // What it has given for the first one pays the second.
  ['takes twice what was agreed', 200n, 100n, 'completed'],
])('an Exchange that %s: one purchase, then none until a person resumes', async (_, takes, gives, next) => {
  const { creditToken, stablecoin } = rig.deployment;
  const args = [stablecoin, creditToken, RATE, takes, gives];
  const exchange = await rig.deploy({ abi: greedyExchangeAbi, bytecode: greedyExchangeBytecode, args });
  await rig.giveCredits(exchange, 10n ** 24n);
  const key = await rig.fundKey();
  const scene = await startScene(rig, { key, overrides: { EXCHANGE_ADDRESS: exchange, MAX_IN_FLIGHT: '1' } });
  const before = await balanceOf(stablecoin, key.address);
  const { paymentIntentId } = scene.add(2_000_000n);
  await scene.waitForState(paymentIntentId, 'held');
  const other = scene.add(2_000_000n);
  await waitForAlert(scene, 'CONTRACTS_WRONG');
  expect(before - (await balanceOf(stablecoin, key.address))).toBe((2_000_000n * takes) / 100n);
  expect(codesOf(scene.instance)).toEqual(['EXCHANGE_BROKEN', 'CONTRACTS_WRONG']);
  await runCommand(['resume', '--why', 'the Exchange is mended'], {
    environment: scene.settings,
    print: () => undefined,
  });
  await waitForAlert(scene, 'CONTRACTS_WRONG_OVER');
  await scene.waitForState(other.paymentIntentId, next);
  await scene.instance.stop();
});

// Shows PAY-5.
test.each<[string, string, RegExp]>([
  ['a token at EXCHANGE_ADDRESS', 'EXCHANGE_ADDRESS', /EXCHANGE_ADDRESS, 0x\w+, is a token, and no Exchange/],
  ['a token at PAYOUTS_ADDRESS', 'PAYOUTS_ADDRESS', /PAYOUTS_ADDRESS, 0x\w+, is no contract Payouts/],
])('%s is reported as what it is, and nothing is approved', async (_, name, words) => {
  const key = await rig.fundKey();
  const scene = await startScene(rig, { key, overrides: { [name]: rig.deployment.stablecoin } });
  scene.add(1_000_000n);
  await waitUntil(() => scene.instance.alerts.length > 0, { timeoutMs: TIMEOUT_MS, what: 'not told' });
  expect(scene.instance.alerts[0]).toMatchObject({ code: 'CONTRACTS_WRONG', text: expect.stringMatching(words) });
  expect(await rig.client.getTransactionCount({ address: key.address })).toBe(0);
  await scene.instance.stop();
});

// Shows PAY-11.
test('a payer that Payouts binds to another frontend is reported, and pays nothing', async () => {
  const key = await rig.fundKey();
  const payouts = await rig.deployPayouts([key.address]);
  const overrides = { PAYOUTS_ADDRESS: payouts, FRONTEND_ID: 'another-installation' };
  const scene = await startScene(rig, { key, overrides });
  scene.add(1_000_000n);
  await waitForAlert(scene, 'CONTRACTS_WRONG');
  expect(scene.instance.alerts[0]?.text).toMatch(/lets 0x\w+ pay for the frontend 0x\w+, and FRONTEND_ID is 0x/);
  expect(await rig.client.getTransactionCount({ address: key.address })).toBe(0);
  await scene.instance.stop();
});

// Shows PAY-5.
test('a payer that Payouts lets pay no longer: told once, claimed once at most, and paid once it may again', async () => {
  const key = await rig.fundKey();
  const payouts = await rig.deployPayouts([key.address]);
  const overrides = { PAYOUTS_ADDRESS: payouts, MAX_RETRIES: '0', RETRY_DELAY_MS: '20' };
  const scene = await startScene(rig, { key, overrides });
  scene.add(1_000_000n);
  await scene.waitForAll();
  await rig.setPayer(payouts, key.address);
  const { paymentIntentId } = scene.add(2_000_000n);
  await waitUntil(() => codesOf(scene.instance).includes('CONTRACTS_WRONG'), {
    timeoutMs: TIMEOUT_MS,
    what: 'not told',
  });
  const polls = () => scene.instance.log.lines.length;
  const before = polls();
  await waitUntil(() => polls() > before + 20, { timeoutMs: 3000, what: '' }).catch(() => undefined);
  expect(codesOf(scene.instance)).toEqual(['PAYMENT_GIVEN_BACK', 'CONTRACTS_WRONG']);
  expect(scene.frontend.store.list().find((one) => one.paymentIntentId === paymentIntentId)?.claims).toBe(1);
  await rig.setPayer(payouts, key.address, 'the rig');
  await scene.waitForAll();
  await scene.instance.stop();
});
