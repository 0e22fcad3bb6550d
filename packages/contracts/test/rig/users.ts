import type { Hex, LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256, toHex } from 'viem/utils';

export const CREDIT = 10n ** 18n;
/** The fee of requests that name none: a number that no split divides evenly. */
export const DEFAULT_FEE = CREDIT / 100n + 1n;
/** The credits that tests put in new prisms. */
export const FUNDS = 100n * CREDIT;

/** A key that holds no ether: users never pay gas. */
export function createUser(name: string): LocalAccount {
  return privateKeyToAccount(keccak256(toHex(`user ${name}`)));
}

/** A 32-byte id made of a name. */
export function idOf(name: string): Hex {
  return keccak256(toHex(name));
}
