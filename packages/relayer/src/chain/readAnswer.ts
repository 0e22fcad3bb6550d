import type { Hex } from 'viem';
import { ChainError } from './chainError.ts';

function refuse(what: string): never {
  throw new ChainError('RPC_ANSWER_INVALID', `The node's answer has no ${what} that could be read.`);
}

/** Reads a quantity: `0x` and hex digits. @throws ChainError `RPC_ANSWER_INVALID` */
export function readQuantity(value: unknown, what: string): bigint {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : refuse(what);
}

/** Reads bytes: `0x` and pairs of hex digits. @throws ChainError `RPC_ANSWER_INVALID` */
export function readBytes(value: unknown, what: string): Hex {
  // The pattern is what `Hex` promises.
  return typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value) ? (value as Hex) : refuse(what);
}

/** Reads an object. @throws ChainError `RPC_ANSWER_INVALID` */
export function readRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  // An object's fields are looked at one by one.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : refuse(what);
}

/** Reads a list. @throws ChainError `RPC_ANSWER_INVALID` */
export function readList(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(what);
}

/** Reads what a view with one number, or one truth value as 0 or 1, returns: 32 bytes. @throws ChainError `RPC_ANSWER_INVALID` */
export function readWord(value: unknown, what: string): bigint {
  const bytes = readBytes(value, what);
  return bytes.length === 66 ? BigInt(bytes) : refuse(what);
}
