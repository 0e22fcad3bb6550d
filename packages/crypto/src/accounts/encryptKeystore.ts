import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { scrypt } from 'hash-wasm';
import { type Hex, hexToBytes, keccak256 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';

/** Geth's strength: 256 MiB and about a second. */
const COST = { costFactor: 262_144, blockSize: 8, parallelism: 1 } as const;
const KEY_BYTES = 32;

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/**
 * Encrypts a private key for a file.
 *
 * @param privateKey - 32 bytes
 * @param password - as it was typed
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
