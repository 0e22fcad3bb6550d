import { creditTokenAbi, forwarderAbi } from '@prism-gateway/contracts';
import { parseHash } from '@prism-gateway/node/rpc';
import { formatEther, type Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { ChainError } from './chainError.ts';
import type { ReadRpc } from './createChainRpc.ts';

/** Gas of a small write alone, as the contracts' snapshot has it. */
const WRITE_GAS = 90_000n;
/** In wei: a million million of a chain's coin. No credits are worth as much; ether counts a ten-thousandth of it. */
const MOST_WORTH = 10n ** 12n * 10n ** 18n;
const WEI_PER_ETH = 10n ** 18n;

/**
 * Refuses a rate at which nothing adds up on this chain: in the wrong unit it has every fee left as too small, or any gas paid for any fee,
 * and neither looks like a fault.
 *
 * @param rate.forwarder - address of the Forwarder, whose credits are meant
 * @param rate.creditsPerEth - in 18-decimal fixed point
 * @param rate.gasPrice - what a unit of gas costs now, in wei
 * @throws ChainError `RATE_IMPLAUSIBLE`, and those of the node
 * @see docs/specification.md RELAY-26
 */
export async function verifyRate(
  rpc: ReadRpc,
  rate: { readonly forwarder: Hex; readonly creditsPerEth: bigint; readonly gasPrice: bigint },
): Promise<void> {
  const { forwarder, creditsPerEth, gasPrice } = rate;
  const word = (to: Hex, data: Hex, name: string) =>
    rpc.read(['eth_call', { to, data }, 'latest'], (answer) => parseHash(answer, name));
  const token = await word(
    forwarder,
    encodeFunctionData({ abi: forwarderAbi, functionName: 'creditToken' }),
    'creditToken',
  );
  // An address is the end of its word.
  const creditToken: Hex = `0x${token.slice(-40)}`;
  const data = encodeFunctionData({ abi: creditTokenAbi, functionName: 'totalSupply' });
  const supply = BigInt(await word(creditToken, data, 'totalSupply'));
  // Before there are any credits, nothing can be compared.
  if (supply === 0n) return;
  const given = `CREDITS_PER_ETH is ${formatEther(creditsPerEth)}`;
  const cost = (WRITE_GAS * gasPrice * creditsPerEth) / WEI_PER_ETH;
  if (cost > supply) {
    const found = `at that rate a small write costs ${formatEther(cost)} credits, and there are ${formatEther(supply)} in all`;
    const advice = 'Give how many whole credits one ether is worth, without their 18 decimals';
    throw new ChainError('RATE_IMPLAUSIBLE', `${given}: ${found}, so that no fee would ever pay. ${advice}.`);
  }
  const worth = (supply * WEI_PER_ETH) / creditsPerEth;
  if (worth > MOST_WORTH) {
    const found = `at that rate the ${formatEther(supply)} credits that there are would be worth ${formatEther(worth)} ether`;
    const advice = 'Give how many credits one ether is worth, not how much ether a credit is worth';
    throw new ChainError('RATE_IMPLAUSIBLE', `${given}: ${found}, so that any fee would pay for any gas. ${advice}.`);
  }
}
