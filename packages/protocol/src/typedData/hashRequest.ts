import type { Hex } from 'viem';
import { hashTypedData } from 'viem/utils';
import { createTypedData, type TypedDataSource } from './createTypedData.ts';
import type { SignedAction } from './structs.ts';

/**
 * Computes the EIP-712 digest of a request: what the signature covers, and what the Forwarder recomputes.
 *
 * @returns 32 bytes as hex
 * @see https://eips.ethereum.org/EIPS/eip-712
 */
export function hashRequest<A extends SignedAction>(source: TypedDataSource<A>): Hex {
  return hashTypedData(createTypedData(source));
}
