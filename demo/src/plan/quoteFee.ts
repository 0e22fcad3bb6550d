import type { SignedAction } from '@prism-gateway/protocol/typed-data';
import { WORLD } from '../startDemoWorld.ts';

const CREDIT = 10n ** 18n;
/** Gas of each action before its entries; each entry adds `GAS_PER_ENTRY`. From the contracts' gas snapshot, rounded up. */
const BASE_GAS: Readonly<Record<SignedAction, bigint>> = {
  CREATE_PRISM_FOR: 190_000n,
  CREATE_PRISM_WITH_DATA_FOR: 200_000n,
  WRITE_DATA_FOR: 100_000n,
  MODIFY_DATA_FOR: 100_000n,
  DELETE_DATA_FOR: 100_000n,
  TRANSFER_PRISM_FOR: 110_000n,
  ACCEPT_TRANSFER_FOR: 100_000n,
  DELETE_PRISM_FOR: 130_000n,
  BATCH_WRITE_DATA_FOR: 100_000n,
  BATCH_MODIFY_DATA_FOR: 100_000n,
  BATCH_DELETE_DATA_FOR: 100_000n,
};
const GAS_PER_ENTRY = 60_000n;
/** The price that users calculate with, in wei: base fee and tip of a development chain are 1 gwei each at first. */
const GAS_PRICE = 2_000_000_000n;
const WEI_PER_ETH = 10n ** 18n;
const WHOLE_BPS = 10_000n;

/**
 * Quotes what a user offers a relayer: so much that also one that is not official, and gets only its share, earns by it.
 *
 * @param request.entries - how many entries it puts on the chain or removes
 * @returns whole credits, in base units
 */
export function quoteFee(request: { readonly action: SignedAction; readonly entries: number }): bigint {
  const gas = BASE_GAS[request.action] + BigInt(request.entries) * GAS_PER_ENTRY;
  // A fifth more: relayers want a margin.
  const credits = (gas * GAS_PRICE * WORLD.creditsPerEth * 12n) / 10n / WEI_PER_ETH;
  return ((credits * WHOLE_BPS) / BigInt(WORLD.relayerShareBps) + 1n) * CREDIT;
}
