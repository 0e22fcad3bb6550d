import { type Address, encodeFunctionData, type Hex, keccak256, maxUint256, pad, toHex } from 'viem';
import { expect, it } from 'vitest';
import { payoutsBytecode } from '../src/bytecode.ts';
import { creditTokenAbi, payoutsAbi } from '../src/index.ts';
import { type ChainRig, CREDIT } from './chainRig.ts';
import { useChain } from './useChain.ts';

const PAYMENT = keccak256(toHex('pi_1'));
const FRONTEND = keccak256(toHex('https://pay.example.com'));
const NOBODY = pad('0x', { size: 32 });
const WALLET: Address = '0x00000000000000000000000000000000000000A1';
const OTHER: Address = '0x00000000000000000000000000000000000000a2';

let rig: ChainRig;
let payouts: Address;

useChain(async (started) => {
  rig = started;
  const { deployer, official, outsider, deployment } = rig;
  payouts = await rig.deploy(payoutsAbi, payoutsBytecode, [
    deployer,
    deployment.creditToken,
    FRONTEND,
    [official, outsider],
  ]);
  for (const payer of [deployer, official, outsider]) {
    await rig.giveCredits(payer, 100n * CREDIT);
    await rig.approve(payer, payouts, maxUint256);
  }
});

const pay = (from: Address, payment = PAYMENT, wallet = WALLET, amount = CREDIT) =>
  rig.call({ from, to: payouts, abi: payoutsAbi, functionName: 'pay', args: [payment, wallet, amount] });

it('pays a payout id once, whoever pays it again, to whichever wallet', async () => {
  expect((await pay(rig.official)).error).toBeUndefined();
  expect((await pay(rig.official)).error).toContain('AlreadyPaid');
  expect((await pay(rig.outsider, PAYMENT, OTHER)).error).toContain('AlreadyPaid');
  expect(await rig.readCredits(WALLET)).toBe(CREDIT);
  expect(await rig.readCredits(OTHER)).toBe(0n);
  expect((await pay(rig.outsider, keccak256(toHex('pi_2')), OTHER)).error).toBeUndefined();
  expect(await rig.readCredits(OTHER)).toBe(CREDIT);
});

it('a payment that could not be made leaves its payout id free', async () => {
  expect((await pay(rig.official, PAYMENT, WALLET, 101n * CREDIT)).error).toContain('ERC20InsufficientBalance');
  expect((await pay(rig.outsider)).error).toBeUndefined();
});

it('refuses a payout of nothing, which would use up the payout id', async () => {
  expect((await pay(rig.official, PAYMENT, WALLET, 0n)).error).toContain('NothingToPay');
  expect((await pay(rig.official)).error).toBeUndefined();
});

it('tells the payments of two frontends apart, whatever ids they give them', async () => {
  const other = keccak256(toHex('https://shop.example.com'));
  const set = { from: rig.deployer, to: payouts, abi: payoutsAbi, functionName: 'setPayer' } as const;
  expect((await rig.call({ ...set, args: [rig.outsider, other] })).error).toBeUndefined();
  expect((await pay(rig.official)).error).toBeUndefined();
  expect((await pay(rig.outsider, PAYMENT, OTHER)).error).toBeUndefined();
  expect(await rig.readCredits(OTHER)).toBe(CREDIT);
});

it('keeps its owner, without whom no payer could be taken away', async () => {
  const renounced = await rig.call({
    from: rig.deployer,
    to: payouts,
    abi: payoutsAbi,
    functionName: 'renounceOwnership',
    args: [],
  });
  expect(renounced.error).toContain('OwnerNeeded');
});

it('takes payments of its payers only, and the owner alone says who they are', async () => {
  expect((await pay(rig.deployer)).error).toContain('NotAPayer');
  const set = (from: Address, payer: Address, frontend: Hex) =>
    rig.call({ from, to: payouts, abi: payoutsAbi, functionName: 'setPayer', args: [payer, frontend] });
  expect((await set(rig.official, rig.official, NOBODY)).error).toContain('OwnableUnauthorizedAccount');
  expect((await set(rig.deployer, rig.deployer, FRONTEND)).error).toBeUndefined();
  expect((await pay(rig.deployer)).error).toBeUndefined();
  expect((await set(rig.deployer, rig.official, NOBODY)).error).toBeUndefined();
  expect((await pay(rig.official, keccak256(toHex('pi_2')))).error).toContain('NotAPayer');
});

it('costs the gas that docs/payments.md tells beside that of a transfer', async () => {
  const { receipt } = await pay(rig.official);
  const data = encodeFunctionData({ abi: creditTokenAbi, functionName: 'transfer', args: [OTHER, CREDIT] });
  const plain = await rig.sendTransaction({ from: rig.official, to: rig.deployment.creditToken, data });
  console.log(`pay ${receipt.gasUsed}, transfer ${plain.receipt.gasUsed}`);
  expect(receipt.gasUsed - plain.receipt.gasUsed).toBeLessThan(40_000n);
});
