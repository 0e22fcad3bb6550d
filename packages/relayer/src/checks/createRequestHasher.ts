import { createTypedData, hashForwarderDomain, type TypedDataSource } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { concat, keccak256, numberToHex, padHex, toHex } from 'viem/utils';

/** EIP-712's `encodeData` of one field: a word; of what has no fixed length, its hash. */
function encodeField(type: string, value: unknown): Hex {
  // The typed data vouches for the types.
  if (type === 'uint256') return numberToHex(value as bigint, { size: 32 });
  if (type === 'bytes') return keccak256(value as Hex);
  if (type === 'bytes[]') return keccak256(concat((value as readonly Hex[]).map((item) => keccak256(item))));
  if (type === 'bytes32[]') return keccak256(concat(value as readonly Hex[]));
  return padHex(value as Hex, { size: 32 });
}

/**
 * Makes the EIP-712 digest of a request as a function of its forwarder nonce, which is the last field of every struct: what stands
 * before it, such as a long payload, is hashed once.
 *
 * @returns digests as `hashRequest` computes them
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function createRequestHasher(source: Omit<TypedDataSource, 'nonce'>): (nonce: bigint) => Hex {
  const { types, primaryType, message } = createTypedData({ ...source, nonce: 0n });
  const fields = types[primaryType] ?? [];
  const members = fields.map(({ name, type }) => `${type} ${name}`).join(',');
  const words = fields.slice(0, -1).map(({ name, type }) => encodeField(type, message[name]));
  const start = concat([keccak256(toHex(`${primaryType}(${members})`)), ...words]);
  const prefix = concat(['0x1901', hashForwarderDomain(source)]);
  return (nonce) => keccak256(concat([prefix, keccak256(concat([start, numberToHex(nonce, { size: 32 })]))]));
}
