import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto';
import { type Hex, hexToBytes, keccak256 } from 'viem';

/**
 * Encrypts a key as Web3 Secret Storage, version 3, with a key derivation that takes no time.
 *
 * @param privateKey - 32 bytes
 * @param password - that decrypts it
 * @returns the file's text
 * @see https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
 */
export function encryptKey(privateKey: Hex, password: string): string {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  const derived = pbkdf2Sync(password, salt, 1000, 32, 'sha256');
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(hexToBytes(privateKey)), cipher.final()]);
  const mac = keccak256(Buffer.concat([derived.subarray(16), ciphertext])).slice(2);
  const kdfparams = { c: 1000, dklen: 32, prf: 'hmac-sha256', salt: salt.toString('hex') };
  const cipherparams = { iv: iv.toString('hex') };
  const crypto = { cipher: 'aes-128-ctr', cipherparams, ciphertext: ciphertext.toString('hex') };
  return JSON.stringify({ version: 3, crypto: { ...crypto, kdf: 'pbkdf2', kdfparams, mac } });
}
