import type { Address, Hex } from 'viem';
import { getAddress, hashStruct } from 'viem/utils';

/** Where the Forwarder lives: the part of the EIP-712 domain that differs from chain to chain. */
export interface ForwarderLocation {
  /** EIP-155 chain id. */
  readonly chainId: number;
  /** Address of the Forwarder, in any letter case. */
  readonly forwarder: string;
}

/** The Forwarder's EIP-712 domain. */
export interface ForwarderDomain {
  readonly name: 'Forwarder';
  readonly version: '1';
  readonly chainId: number;
  readonly verifyingContract: Address;
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

/** Reads an address of the wire, whatever its letter case, as viem wants it: with a right checksum. */
export function readAddress(address: string): Address {
  // Lower case carries no checksum that could be wrong; the wire compares addresses without regard to case.
  return getAddress(address.toLowerCase());
}

/**
 * Makes the Forwarder's EIP-712 domain.
 *
 * @see docs/specification.md CHAIN-1
 */
export function createForwarderDomain({ chainId, forwarder }: ForwarderLocation): ForwarderDomain {
  return { name: 'Forwarder', version: '1', chainId, verifyingContract: readAddress(forwarder) };
}

/** Domain separators that were asked for: a program knows few Forwarders, and asks for each request. */
const separators = new Map<string, Hex>();
const MAX_SEPARATORS = 100;

/**
 * Computes the domain separator, to compare with the deployed Forwarder's own.
 *
 * @returns 32 bytes as hex
 */
export function hashForwarderDomain(location: ForwarderLocation): Hex {
  const key = `${location.chainId} ${location.forwarder}`;
  const known = separators.get(key);
  if (known !== undefined) return known;
  const { chainId, ...domain } = createForwarderDomain(location);
  const separator = hashStruct({
    primaryType: 'EIP712Domain',
    types: { EIP712Domain: domainFields },
    data: { ...domain, chainId: BigInt(chainId) },
  });
  if (separators.size >= MAX_SEPARATORS) separators.clear();
  separators.set(key, separator);
  return separator;
}
