import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { createKeyFile } from './createKeyFile.ts';
import { DEV_ISSUER_ALGORITHM } from './devIssuerAlgorithm.ts';
import { hasErrorCode } from './hasErrorCode.ts';

/** The development issuer's signing key. */
export interface DevelopmentKey {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** What the key set shows. */
  readonly publicJwk: JWK;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT'])) return undefined;
    throw error;
  }
}

async function importKey(text: string): Promise<DevelopmentKey> {
  const jwk: JWK = JSON.parse(text);
  const { d, ...bare } = jwk;
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || d === undefined) throw new TypeError('not a private P-256 key');
  const kid = await calculateJwkThumbprint(bare);
  // importJWK gives a Uint8Array for symmetric keys only.
  const privateKey = (await importJWK(jwk, DEV_ISSUER_ALGORITHM)) as CryptoKey;
  const publicKey = (await importJWK(bare, DEV_ISSUER_ALGORITHM)) as CryptoKey;
  return { privateKey, publicKey, publicJwk: { ...bare, kid, alg: DEV_ISSUER_ALGORITHM, use: 'sig' }, kid };
}

/**
 * Loads the development issuer's key from `key.json`, which it creates (mode 0600) when there is none.
 *
 * @param directory - made when missing; processes that share it share the key
 * @returns the key
 * @throws Error when the directory cannot be written or the file holds no such key
 */
export async function loadOrCreateKey(directory: string): Promise<DevelopmentKey> {
  const path = join(directory, 'key.json');
  if ((await readIfThere(path)) === undefined) await createKeyFile(path);
  try {
    return await importKey(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`The development key ${path} cannot be used; delete it to have a new one made.`, { cause: error });
  }
}
