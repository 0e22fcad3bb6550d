import type { Address } from 'viem';
import { getContractAddress } from 'viem/utils';

/** Where the contracts are. */
export interface Deployment {
  readonly chainId: number;
  readonly forwarder: Address;
  readonly cloud: Address;
  readonly core: Address;
  readonly creditToken: Address;
  readonly exchange: Address;
  readonly stablecoin: Address;
  readonly treasury: Address;
  /** Number of the block from which on all are there. */
  readonly deployedAtBlock: number;
}

/** In this order they are deployed, each with the account nonce after the one before. */
const ORDER = ['stablecoin', 'creditToken', 'exchange', 'core', 'cloud', 'forwarder'] as const;

/**
 * Predicts where the contracts will be. They know each other by immutable addresses, so these must be known before the first is there.
 *
 * @param deployer - account that deploys all six
 * @param firstNonce - account nonce of its first deployment
 * @returns an address a contract
 * @see https://ethereum.github.io/yellowpaper/paper.pdf section 7: an address follows from deployer and account nonce
 * @example The contracts of `npm run devnet`: `predictAddresses('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 0)`
 */
export function predictAddresses(deployer: Address, firstNonce: number): Record<(typeof ORDER)[number], Address> {
  const places = ORDER.map((contract, index) => [
    contract,
    getContractAddress({ from: deployer, nonce: BigInt(firstNonce + index) }),
  ]);
  // One entry for each name of the list.
  return Object.fromEntries(places) as Record<(typeof ORDER)[number], Address>;
}
