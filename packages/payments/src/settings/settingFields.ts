import { expected, listOf } from '@prism-gateway/runtime/settings';
import { type Address, getAddress, isAddress } from 'viem';
import * as z from 'zod/mini';

/**
 * An address of an account or contract that money goes to; one that is written in mixed case must have its checksum.
 *
 * @returns the field; its value is the address with its checksum
 * @see EIP-55
 */
export function checkedAddress() {
  const error = expected('an address with its checksum');
  return z.pipe(
    z.string(error).check(z.refine((text: string) => isAddress(text), error)),
    z.transform((text: string): Address => (isAddress(text) ? getAddress(text) : '0x')),
  );
}

/**
 * Addresses with commas between.
 *
 * @returns the field; its value is the list
 */
export function addressList() {
  return z._default(listOf(checkedAddress()), []);
}
