import type { PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** A party with a key made for this run. */
export interface Party {
  /** As the output calls it. */
  readonly name: string;
  readonly account: PrivateKeyAccount;
  readonly privateKey: `0x${string}`;
}

/**
 * Makes a party with a new key.
 *
 * @param name - as the output calls it
 */
export function createParty(name: string): Party {
  const privateKey = generatePrivateKey();
  return { name, privateKey, account: privateKeyToAccount(privateKey) };
}
