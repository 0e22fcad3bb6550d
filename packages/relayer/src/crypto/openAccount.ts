import type { MessageAccount } from '@prism-gateway/sdk';
import { loadAccount, type SenderAccount } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import type { Settings } from '../settings/settings.ts';
import { createNativeAccount } from './createNativeAccount.ts';
import { loadSecp256k1 } from './loadSecp256k1.ts';

/** Signs relayer auth and transactions. */
export interface RelayerAccount extends SenderAccount, MessageAccount {
  readonly address: Hex;
}

/**
 * Opens the relayer's account: from a private key, where the platform can natively; from a keystore as viem does.
 *
 * @throws SenderError `INVALID_ARGUMENT`, `KEYSTORE_INVALID`, `KEYSTORE_PASSWORD_WRONG`
 */
export async function openAccount(
  settings: Pick<Settings, 'privateKey' | 'keystore' | 'keystorePassword'>,
): Promise<RelayerAccount> {
  const { privateKey, keystore, keystorePassword } = settings;
  const account = await loadAccount({ privateKey, keystore, keystorePassword });
  const secp256k1 = privateKey === undefined ? undefined : loadSecp256k1();
  if (privateKey !== undefined && secp256k1 !== undefined) {
    return createNativeAccount({ address: account.address, privateKey, secp256k1 });
  }
  const { address, signMessage, signTransaction } = account;
  return { address, signMessage, signTransaction: (transaction) => signTransaction(transaction) };
}
