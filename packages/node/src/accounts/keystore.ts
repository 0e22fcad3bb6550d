import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { scrypt } from 'hash-wasm';
import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { AccountError } from './account.ts';

/** Geth's own strength needs 256 MiB (n = 262144, r = 8); four times that is the most that is granted. */
const MAX_SCRYPT_BYTES = 1024 * 1024 * 1024;
const MAX_PBKDF2_ROUNDS = 10_000_000;
const KEY_BYTES = 32;

type JsonRecord = Readonly<Record<string, unknown>>;

function refuse(what: string): never {
  throw new AccountError('KEYSTORE_INVALID', `The keystore is not Web3 Secret Storage version 3: ${what}.`);
}

function recordOf(value: unknown, what: string): JsonRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(`${what} is no object`);
  // A value that is neither null nor an array nor a primitive is a record.
  return value as JsonRecord;
}

function bytesOf(value: unknown, what: string): Uint8Array {
  if (typeof value !== 'string' || !/^(0x)?([0-9a-f]{2})+$/i.test(value)) return refuse(`${what} is no hex`);
  // The pattern has been seen.
  return hexToBytes((value.startsWith('0x') ? value : `0x${value}`) as Hex);
}

function countOf(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return refuse(`${what} is no count`);
  return value;
}

function readJson(text: string): JsonRecord {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    refuse('it is no JSON');
  }
  const keystore = recordOf(parsed, 'the whole');
  if (keystore.version !== 3) refuse('its version is another');
  // Old files write it in capitals.
  return recordOf(keystore.crypto ?? keystore.Crypto, 'crypto');
}

/** OpenSSL's scrypt insists on `n < 2^(16·r)`, as RFC 7914 does; keystores exist that do not, such as their definition's own test vector. */
async function deriveScrypt(password: string, params: JsonRecord): Promise<Uint8Array> {
  const [n, r, p] = [countOf(params.n, 'n'), countOf(params.r, 'r'), countOf(params.p, 'p')];
  if (n < 2 || !Number.isInteger(Math.log2(n))) refuse('n is no power of two');
  if (128 * n * r > MAX_SCRYPT_BYTES || p > 16) refuse('its key derivation takes more than 1 GiB');
  const cost = { costFactor: n, blockSize: r, parallelism: p, hashLength: KEY_BYTES };
  return await scrypt({ password, salt: bytesOf(params.salt, 'salt'), ...cost, outputType: 'binary' });
}

async function derivePbkdf2(password: string, params: JsonRecord): Promise<Uint8Array> {
  const rounds = countOf(params.c, 'c');
  if (params.prf !== 'hmac-sha256') refuse('prf is another than hmac-sha256');
  if (rounds > MAX_PBKDF2_ROUNDS) refuse('c is too large');
  return await promisify(pbkdf2)(password, bytesOf(params.salt, 'salt'), rounds, KEY_BYTES, 'sha256');
}

async function deriveKey(password: string, crypto: JsonRecord): Promise<Uint8Array> {
  const params = recordOf(crypto.kdfparams, 'kdfparams');
  if (params.dklen !== KEY_BYTES) refuse('dklen is another than 32');
  if (crypto.kdf === 'scrypt') return await deriveScrypt(password, params);
  if (crypto.kdf === 'pbkdf2') return await derivePbkdf2(password, params);
  return refuse('kdf is neither scrypt nor pbkdf2');
}

/**
 * Decrypts a private key.
 *
 * @param keystore - the JSON text of Web3 Secret Storage, version 3
 * @returns the private key, 32 bytes
 * @throws AccountError `KEYSTORE_INVALID`, `KEYSTORE_PASSWORD_WRONG`
 * @see https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
 */
export async function decryptKeystore(keystore: string, password: string): Promise<Hex> {
  const crypto = readJson(keystore);
  if (crypto.cipher !== 'aes-128-ctr') refuse('cipher is another than aes-128-ctr');
  const iv = bytesOf(recordOf(crypto.cipherparams, 'cipherparams').iv, 'iv');
  const ciphertext = bytesOf(crypto.ciphertext, 'ciphertext');
  const mac = bytesOf(crypto.mac, 'mac');
  if (iv.length !== 16 || ciphertext.length !== KEY_BYTES || mac.length !== 32)
    refuse('iv, ciphertext or mac has another length');
  const key = await deriveKey(password, crypto);
  const expected = keccak256(Buffer.concat([key.subarray(16, 32), ciphertext]), 'bytes');
  if (!timingSafeEqual(expected, mac)) {
    throw new AccountError(
      'KEYSTORE_PASSWORD_WRONG',
      'The password does not open the keystore; check it, or the file is damaged.',
    );
  }
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), iv);
  return bytesToHex(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
}

/** Geth's strength: 256 MiB and about a second. */
const COST = { costFactor: 262_144, blockSize: 8, parallelism: 1 } as const;

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/**
 * Encrypts a private key for a file.
 *
 * @param privateKey - 32 bytes
 * @returns the JSON text of Web3 Secret Storage, version 3, with the address in it, as Geth writes it
 * @see https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
 */
export async function encryptKeystore(privateKey: Hex, password: string): Promise<string> {
  const [salt, iv] = [randomBytes(KEY_BYTES), randomBytes(16)];
  const key = await scrypt({ password, salt, ...COST, hashLength: KEY_BYTES, outputType: 'binary' });
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(privateKey)), cipher.final()]);
  const { costFactor: n, blockSize: r, parallelism: p } = COST;
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: toHex(iv) },
    ciphertext: toHex(ciphertext),
    kdf: 'scrypt',
    kdfparams: { dklen: KEY_BYTES, n, p, r, salt: toHex(salt) },
    mac: keccak256(Buffer.concat([key.subarray(16), ciphertext])).slice(2),
  };
  const address = privateKeyToAddress(privateKey).slice(2).toLowerCase();
  return `${JSON.stringify({ address, crypto, id: randomUUID(), version: 3 }, undefined, 2)}\n`;
}
