import { readFile } from 'node:fs/promises';
import type { Hex, LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SenderError } from '../senderError.ts';
import { decryptKeystore } from './decryptKeystore.ts';

/** Where a key comes from: one of the two. */
export interface KeySource {
  /** `0x` and 64 hex digits; the `0x` may be left out. */
  readonly privateKey?: string | undefined;
  /** The JSON text of a keystore (Web3 Secret Storage, version 3), or the path of its file. */
  readonly keystore?: string | undefined;
  readonly keystorePassword?: string | undefined;
}

function parsePrivateKey(text: string): Hex {
  const digits = text.trim().replace(/^0x/i, '');
  if (!/^[0-9a-f]{64}$/i.test(digits)) {
    throw new SenderError('INVALID_ARGUMENT', 'The private key must be 64 hex digits; check the setting.');
  }
  return `0x${digits}`;
}

async function readKeystore(keystore: string): Promise<string> {
  if (keystore.trimStart().startsWith('{')) return keystore;
  try {
    return await readFile(keystore, 'utf8');
  } catch (error) {
    throw new SenderError('KEYSTORE_INVALID', 'The file of the keystore cannot be read; check its path.', {
      cause: error,
    });
  }
}

/** Nothing about the key goes into an error. */
function toAccount(privateKey: Hex): LocalAccount {
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new SenderError('INVALID_ARGUMENT', 'The private key is no key of secp256k1.');
  }
}

/**
 * Loads an account from a private key or an encrypted keystore.
 *
 * @param source - one of both, the keystore with its password
 * @returns the account, for `openSender`
 * @throws SenderError `INVALID_ARGUMENT`, `KEYSTORE_INVALID`, `KEYSTORE_PASSWORD_WRONG`
 */
export async function loadAccount(source: KeySource): Promise<LocalAccount> {
  const { privateKey, keystore, keystorePassword } = source;
  if ((privateKey === undefined) === (keystore === undefined)) {
    throw new SenderError('INVALID_ARGUMENT', 'Give either a private key or a keystore.');
  }
  if (privateKey !== undefined) return toAccount(parsePrivateKey(privateKey));
  if (keystorePassword === undefined) throw new SenderError('INVALID_ARGUMENT', 'A keystore needs its password.');
  // One of both is there.
  return toAccount(await decryptKeystore(await readKeystore(keystore as string), keystorePassword));
}
