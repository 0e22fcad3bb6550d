import type { Hex } from 'viem';

/** A row as SQLite gives it. */
export type Row = Record<string, string | number | bigint | null | Uint8Array>;

// Only what the journal wrote is read.
export const hexOf = (value: Row[string] | undefined) => (value == null ? undefined : (`${value}` as Hex));
export const bigOf = (value: Row[string] | undefined) => (value == null ? undefined : BigInt(Number(value)));
export const numberOf = (value: Row[string] | undefined) => (value == null ? undefined : Number(value));
export const orNull = (value: bigint | undefined) => (value === undefined ? null : Number(value));
