import { readFile } from 'node:fs/promises';
import { type Address, bytesToHex, type Hex, hexToBytes } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { loadSecp256k1 } from '../crypto/secp256k1/loadSecp256k1.ts';
import { type Account, AccountError, createSigningAccount, type DigestSignature } from './account.ts';
import { decryptKeystore } from './keystore.ts';
import { openKmsAccount } from './openKmsAccount.ts';

/** Where a key comes from: one of the two. */
interface KeySource {
  /** `0x` and 64 hex digits, the `0x` may be left out; or `kms:` and the id, ARN or alias of a key in AWS KMS. */
  readonly privateKey?: string | undefined;
  /** The JSON text of a keystore (Web3 Secret Storage, version 3), or the path of its file. */
  readonly keystore?: string | undefined;
  readonly keystorePassword?: string | undefined;
}

function parsePrivateKey(text: string): Hex {
  const digits = text.trim().replace(/^0x/i, '');
  if (!/^[0-9a-f]{64}$/i.test(digits)) {
    throw new AccountError('INVALID_ARGUMENT', 'The private key must be 64 hex digits; check the setting.');
  }
  return `0x${digits}`;
}

async function readKeystore(keystore: string): Promise<string> {
  if (keystore.trimStart().startsWith('{')) return keystore;
  try {
    return await readFile(keystore, 'utf8');
  } catch (error) {
    throw new AccountError('KEYSTORE_INVALID', 'The file of the keystore cannot be read; check its path.', {
      cause: error,
    });
  }
}

/** The prefix of the name of a key in AWS KMS. */
const KMS_PREFIX = 'kms:';
/** Bytes of half a signature. */
const HALF_BYTES = 32;

/** Nothing about the key goes into an error. */
function addressOf(privateKey: Hex): Address {
  try {
    return privateKeyToAddress(privateKey);
  } catch {
    throw new AccountError('INVALID_ARGUMENT', 'The private key is no key of secp256k1.');
  }
}

function createAccount(privateKey: Hex): Account {
  const address = addressOf(privateKey);
  const key = hexToBytes(privateKey);
  const secp256k1 = loadSecp256k1();
  function sign(digest: Hex): DigestSignature {
    const { signature, recovery } = secp256k1.sign(hexToBytes(digest), key);
    const [r, s] = [bytesToHex(signature.subarray(0, HALF_BYTES)), bytesToHex(signature.subarray(HALF_BYTES))];
    // Of a recovery id only its lowest bit is used on Ethereum.
    return { r, s, yParity: recovery === 0 ? 0 : 1 };
  }
  return createSigningAccount({ address, signDigest: sign });
}

/**
 * Opens an account from a private key, an encrypted keystore, or a key in AWS KMS. The first two sign with libsecp256k1.
 *
 * @throws AccountError `INVALID_ARGUMENT`, `KEYSTORE_INVALID`, `KEYSTORE_PASSWORD_WRONG`, `KMS_FAILED`
 * @example
 * const account = await openAccount({ keystore: 'key.json', keystorePassword });
 */
export async function openAccount(source: KeySource): Promise<Account> {
  const { privateKey, keystore, keystorePassword } = source;
  if (privateKey !== undefined && keystore !== undefined) {
    throw new AccountError('INVALID_ARGUMENT', 'Give either a private key or a keystore, not both.');
  }
  if (privateKey?.startsWith(KMS_PREFIX)) return await openKmsAccount(privateKey.slice(KMS_PREFIX.length));
  if (privateKey !== undefined) return createAccount(parsePrivateKey(privateKey));
  if (keystore === undefined) throw new AccountError('INVALID_ARGUMENT', 'Give either a private key or a keystore.');
  if (keystorePassword === undefined) throw new AccountError('INVALID_ARGUMENT', 'A keystore needs its password.');
  return createAccount(await decryptKeystore(await readKeystore(keystore), keystorePassword));
}
