import type { SignedTransaction } from '../records.ts';

const [TRANSFER_GAS, CREATE_GAS, WORD_GAS] = [21_000, 32_000, 2];
const [ZERO_BYTE_GAS, BYTE_GAS] = [4, 16];
const [FLOOR_ZERO_BYTE_GAS, FLOOR_BYTE_GAS] = [10, 40];
const [ADDRESS_GAS, SLOT_GAS] = [2400, 1900];
export const AUTHORIZATION_GAS = 25_000;

/** The parts of a transaction that its gas depends on before it runs. */
export type Payload = Pick<SignedTransaction, 'to' | 'accessList' | 'authorizations'> & { readonly data: Uint8Array };

/**
 * Computes what a transaction uses before it runs, and the least that it pays for its data.
 *
 * @see https://eips.ethereum.org/EIPS/eip-2028 EIP-2930, EIP-3860, EIP-7623 and EIP-7702
 */
export function computeIntrinsicGas({ to, data, accessList, authorizations }: Payload): {
  readonly gas: bigint;
  readonly floor: bigint;
  /** The larger of both: what the gas limit must be at least. */
  readonly least: bigint;
} {
  let zeros = 0;
  for (const byte of data) if (byte === 0) zeros++;
  const others = data.length - zeros;
  const slots = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  const creation = to === undefined ? CREATE_GAS + WORD_GAS * Math.ceil(data.length / 32) : 0;
  const lists = accessList.length * ADDRESS_GAS + slots * SLOT_GAS + authorizations.length * AUTHORIZATION_GAS;
  const gas = BigInt(TRANSFER_GAS + zeros * ZERO_BYTE_GAS + others * BYTE_GAS + creation + lists);
  const floor = BigInt(TRANSFER_GAS + zeros * FLOOR_ZERO_BYTE_GAS + others * FLOOR_BYTE_GAS);
  return { gas, floor, least: larger(gas, floor) };
}

/** The larger of two amounts. */
export function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

/** The smaller of two amounts. */
export function smaller(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}
