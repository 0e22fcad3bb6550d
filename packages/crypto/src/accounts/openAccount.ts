import { readFile } from 'node:fs/promises';
import {
  type Address,
  bytesToHex,
  type Hex,
  hashMessage,
  hexToBytes,
  keccak256,
  type SignableMessage,
  serializeTransaction,
  type TransactionSerializable,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { loadSecp256k1 } from '../secp256k1/loadSecp256k1.ts';
import { AccountError } from './AccountError.ts';
import { decryptKeystore } from './decryptKeystore.ts';

/** Signs messages and transactions. The key stays within. */
export interface Account {
  readonly address: Address;
  /** Signs a message as EIP-191 has it, version 0x45. @see https://eips.ethereum.org/EIPS/eip-191 */
  signMessage(parameters: { readonly message: SignableMessage }): Promise<Hex>;
  /** Signs a transaction and returns its serialised bytes. */
  signTransaction(transaction: TransactionSerializable): Promise<Hex>;
}

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
  function sign(digest: Hex) {
    const { signature, recovery } = secp256k1.sign(hexToBytes(digest), key);
    const [r, s] = [bytesToHex(signature.subarray(0, HALF_BYTES)), bytesToHex(signature.subarray(HALF_BYTES))];
    return { r, s, yParity: recovery };
  }
  return {
    address,
    async signMessage({ message }) {
      const { r, s, yParity } = sign(hashMessage(message));
      return `${r}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}` as Hex;
    },
    async signTransaction(transaction) {
      return serializeTransaction(transaction, sign(keccak256(serializeTransaction(transaction))));
    },
  };
}

/**
 * Opens an account from a private key or an encrypted keystore. It signs with libsecp256k1.
 *
 * @param source - one of both, the keystore with its password
 * @returns the account
 * @throws AccountError `INVALID_ARGUMENT`, `KEYSTORE_INVALID`, `KEYSTORE_PASSWORD_WRONG`
 * @example
 * const account = await openAccount({ keystore: 'key.json', keystorePassword });
 */
export async function openAccount(source: KeySource): Promise<Account> {
  const { privateKey, keystore, keystorePassword } = source;
  if (privateKey !== undefined && keystore !== undefined) {
    throw new AccountError('INVALID_ARGUMENT', 'Give either a private key or a keystore, not both.');
  }
  if (privateKey !== undefined) return createAccount(parsePrivateKey(privateKey));
  if (keystore === undefined) throw new AccountError('INVALID_ARGUMENT', 'Give either a private key or a keystore.');
  if (keystorePassword === undefined) throw new AccountError('INVALID_ARGUMENT', 'A keystore needs its password.');
  return createAccount(await decryptKeystore(await readKeystore(keystore), keystorePassword));
}
