import type { Hex } from 'viem';
import { maxUint256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { creditTokenAbi, exchangeAbi, stablecoinAbi } from '../src/index.ts';
import { type ChainRig, CREDIT } from './chainRig.ts';
import { useChain } from './useChain.ts';

/** One stablecoin in base units. */
const COIN = 1_000_000n;

let rig: ChainRig;

useChain(async (started) => {
  rig = started;
});

const onExchange = (functionName: string, args: readonly unknown[], from = rig.outsider) =>
  rig.call({ from, to: rig.deployment.exchange, abi: exchangeAbi, functionName, args });
const onStablecoin = (functionName: string, args: readonly unknown[]) =>
  rig.call({ from: rig.outsider, to: rig.deployment.stablecoin, abi: stablecoinAbi, functionName, args });

/** Gives the outsider stablecoins, and lets the Exchange take them. */
async function prepare(amount: bigint) {
  await onStablecoin('mint', [rig.outsider, amount]);
  await onStablecoin('approve', [rig.deployment.exchange, maxUint256]);
}

const readCoins = (owner: Hex) =>
  rig.client.readContract({
    address: rig.deployment.stablecoin,
    abi: stablecoinAbi,
    functionName: 'balanceOf',
    args: [owner],
  });
const quote = (amount: bigint) =>
  rig.client.readContract({
    address: rig.deployment.exchange,
    abi: exchangeAbi,
    functionName: 'quote',
    args: [amount],
  });
const readSupply = () =>
  rig.client.readContract({ address: rig.deployment.creditToken, abi: creditTokenAbi, functionName: 'totalSupply' });

describe('the Exchange', () => {
  it('sells 1000 credits for one stablecoin, to the base unit', async () => {
    await prepare(5n * COIN);
    expect(await quote(COIN)).toBe(1_000n * CREDIT);
    expect(await quote(1n)).toBe(CREDIT / 1_000n);
    const before = await readSupply();
    expect((await onExchange('buy', [3n * COIN, 3_000n * CREDIT])).error).toBeUndefined();
    expect(await rig.readCredits(rig.outsider)).toBe(3_000n * CREDIT);
    expect(await readCoins(rig.outsider)).toBe(2n * COIN);
    expect(await readCoins(rig.treasury)).toBe(3n * COIN);
    expect(await readSupply()).toBe(before + 3_000n * CREDIT);
  });

  it('sells nothing for less than the buyer’s least, as when the rate has changed', async () => {
    await prepare(COIN);
    const least = ((await quote(COIN)) * 99n) / 100n;
    await onExchange('setRate', [990n], rig.deployer);
    expect((await onExchange('buy', [COIN, least])).error).toBeUndefined();
    await prepare(COIN);
    await onExchange('setRate', [989n], rig.deployer);
    expect((await onExchange('buy', [COIN, least])).error).toBe(`SlippageExceeded(${989n * CREDIT}, ${990n * CREDIT})`);
    expect(await readCoins(rig.outsider)).toBe(COIN);
  });

  it('takes no purchase of nothing, nor more than the buyer has or lets it take', async () => {
    expect((await onExchange('buy', [0n, 0n])).error).toBe('ZeroAmount()');
    await prepare(COIN);
    expect((await onExchange('buy', [COIN + 1n, 0n])).error).toBe(
      `ERC20InsufficientBalance(${rig.outsider}, ${COIN}, ${COIN + 1n})`,
    );
    await onStablecoin('approve', [rig.deployment.exchange, 1n]);
    expect((await onExchange('buy', [COIN, 0n])).error).toBe(
      `ERC20InsufficientAllowance(${rig.deployment.exchange}, 1, ${COIN})`,
    );
    expect((await onExchange('buy', [maxUint256, 0n])).error).toBe('Panic(17)');
  });

  it('has its rate from the owner, and never 0', async () => {
    expect((await onExchange('setRate', [1n])).error).toBe(`OwnableUnauthorizedAccount(${rig.outsider})`);
    expect((await onExchange('setRate', [0n], rig.deployer)).error).toBe('ZeroAmount()');
  });
});

describe('the credit token', () => {
  it('is minted by the Exchange alone', async () => {
    const order = {
      to: rig.deployment.creditToken,
      abi: creditTokenAbi,
      functionName: 'mint',
      args: [rig.outsider, 1n],
    };
    expect((await rig.call({ from: rig.deployer, ...order })).error).toBe(`OnlyExchange(${rig.deployer})`);
  });

  it('has 18 decimals, the stablecoin 6', async () => {
    const decimals = { functionName: 'decimals' } as const;
    expect(
      await rig.client.readContract({ address: rig.deployment.creditToken, abi: creditTokenAbi, ...decimals }),
    ).toBe(18);
    expect(await rig.client.readContract({ address: rig.deployment.stablecoin, abi: stablecoinAbi, ...decimals })).toBe(
      6,
    );
  });

  it('lets a transfer end in more than its arguments, as payouts are marked', async () => {
    await rig.giveCredits(rig.outsider, 5n);
    const transfer = `0xa9059cbb${rig.official.slice(2).toLowerCase().padStart(64, '0')}${'5'.padStart(64, '0')}`;
    const data: Hex = `${transfer as Hex}${'ab'.repeat(32)}`;
    expect(
      (await rig.sendTransaction({ from: rig.outsider, to: rig.deployment.creditToken, data })).error,
    ).toBeUndefined();
    expect(await rig.readCredits(rig.official)).toBe(5n);
  });
});
