import type { Hex } from 'viem';
import { hashTypedData, padHex } from 'viem/utils';
import type { ActionParams } from '../requests/create.ts';
import { createForwarderDomain, type ForwarderDomain, type ForwarderLocation, readAddress } from './domain.ts';
import { REQUEST_STRUCTS, type SignedAction, type StructField } from './structs.ts';

/** The params of one action before they are signed. */
export type UnsignedParams<A extends SignedAction = SignedAction> = A extends SignedAction
  ? Omit<ActionParams<A>, 'signer' | 'v' | 'r' | 's'>
  : never;

/** The facts that a signature over a request covers. */
export interface TypedDataSource<A extends SignedAction = SignedAction> extends ForwarderLocation {
  readonly action: A;
  /** Signed params will do too: what no struct holds (`signer`, `permit`, the signature) is left out. */
  readonly params: UnsignedParams<A>;
  /** The signer's forwarder nonce: `nonces(signer)`. */
  readonly nonce: bigint;
}

/** EIP-712 typed data, ready for `signTypedData` of a viem account or wallet. */
export interface RequestTypedData {
  readonly domain: ForwarderDomain;
  readonly types: Readonly<Record<string, readonly StructField[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/** Ids shorter than 32 bytes are left-padded with zeros where they meet the chain. */
function readId(value: unknown): Hex {
  return padHex(value as Hex, { size: 32 });
}

/** Turns a value of the wire into what viem encodes for a type. The params' schema vouches for the casts. */
const readers: Readonly<Record<StructField['type'], (value: unknown) => unknown>> = {
  uint256: (value) => BigInt(value as string),
  address: (value) => readAddress(value as string),
  bytes: (value) => value,
  bytes32: readId,
  'bytes[]': (value) => [...(value as readonly Hex[])],
  'bytes32[]': (value) => (value as readonly Hex[]).map(readId),
};

/**
 * Makes the typed data that the signer of a request signs.
 *
 * An entry of a multi-user batch is the params of a `WRITE_DATA_FOR`: make its typed data with that action.
 *
 * @param source.params - as they cross the wire, valid by the action's schema
 * @returns domain, types, primary type and message; ids padded to 32 bytes, an absent `relayerFundAmount` as 0
 * @see docs/specification.md CHAIN-2; https://eips.ethereum.org/EIPS/eip-712
 * @example
 * const typedData = createTypedData({ action: 'DELETE_PRISM_FOR', params: { cloudId, relayerFee, timestamp }, nonce: 0n, chainId: 31337, forwarder });
 * const signature = await account.signTypedData(typedData);
 */
export function createTypedData<A extends SignedAction>(source: TypedDataSource<A>): RequestTypedData {
  const { name, fields } = REQUEST_STRUCTS[source.action];
  const values: Readonly<Record<string, unknown>> = {
    relayerFundAmount: '0',
    ...source.params,
    nonce: source.nonce,
  };
  return {
    domain: createForwarderDomain(source),
    types: { [name]: fields },
    primaryType: name,
    message: Object.fromEntries(fields.map((field) => [field.name, readers[field.type](values[field.name])])),
  };
}

/**
 * Computes the EIP-712 digest of a request: what the signature covers, and what the Forwarder recomputes.
 *
 * @returns 32 bytes as hex
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function hashRequest<A extends SignedAction>(source: TypedDataSource<A>): Hex {
  return hashTypedData(createTypedData(source));
}
