import type { Address } from 'viem';
import type { ActionParams } from '../requests/create.ts';
import { readAddress } from './domain.ts';
import { splitSignature } from './signature.ts';

/** The facts that a permit's signature covers. */
export interface PermitSource {
  /** The credit token: `name` and `version` of its EIP-712 domain. */
  readonly token: { readonly address: string; readonly name: string; readonly version?: string };
  readonly chainId: number;
  readonly owner: string;
  /** Who may pull the credits. */
  readonly spender: string;
  /** Credits, in base units. */
  readonly value: bigint;
  /** The owner's permit nonce: `nonces(owner)` of the token, not of the Forwarder. */
  readonly nonce: bigint;
  /** Unix time in seconds. */
  readonly deadline: bigint;
}

const fields = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const;

/** EIP-712 typed data of a permit, ready for `signTypedData` of a viem account or wallet. */
export interface PermitTypedData {
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: Address;
  };
  readonly types: { readonly Permit: typeof fields };
  readonly primaryType: 'Permit';
  readonly message: {
    readonly owner: Address;
    readonly spender: Address;
    readonly value: bigint;
    readonly nonce: bigint;
    readonly deadline: bigint;
  };
}

/** The `permit` of params, as it crosses the wire. */
export type Permit = NonNullable<ActionParams<'CREATE_PRISM_FOR'>['permit']>;

/**
 * Makes the typed data by which an owner of credits lets a spender pull them.
 *
 * @returns typed data; `version` is "1" unless the token says otherwise
 * @see https://eips.ethereum.org/EIPS/eip-2612
 */
export function createPermitTypedData({ token, chainId, owner, spender, ...amounts }: PermitSource): PermitTypedData {
  const { value, nonce, deadline } = amounts;
  return {
    domain: {
      name: token.name,
      version: token.version ?? '1',
      chainId,
      verifyingContract: readAddress(token.address),
    },
    types: { Permit: fields },
    primaryType: 'Permit',
    message: { owner: readAddress(owner), spender: readAddress(spender), value, nonce, deadline },
  };
}

/**
 * Makes the `permit` of params from a signature.
 *
 * @param signed.deadline - Unix time in seconds, as it was signed
 * @param signed.signature - 65 bytes as hex, as `signTypedData` returns it
 * @throws SignatureFormatError `SIGNATURE_FORMAT`
 */
export function createPermit(signed: { readonly deadline: bigint; readonly signature: string }): Permit {
  return { deadline: String(signed.deadline), ...splitSignature(signed.signature) };
}
