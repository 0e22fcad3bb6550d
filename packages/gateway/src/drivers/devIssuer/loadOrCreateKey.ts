import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '@prism-gateway/node';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** JWS algorithm of the development issuer's tokens. */
export const DEV_ISSUER_ALGORITHM = 'ES256';

/**
 * Whether a caught value is an error of Node's with one of these codes.
 *
 * @param error - anything caught
 * @param codes - like `ENOENT`
 */
export function hasErrorCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/**
 * Puts a new signing key in place whole, readable by its owner only; or leaves the one that another process has put there
 * meanwhile.
 *
 * @param path - of the private JWK; its directory is made when missing
 */
export async function createKeyFile(path: string): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { privateKey } = await generateKeyPair(DEV_ISSUER_ALGORITHM, { extractable: true });
  const text = JSON.stringify(await exportJWK(privateKey));
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // Unlike rename, link does not replace: the first process wins and all agree.
    await link(temporary, path);
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
  } finally {
    await unlink(temporary);
  }
  await syncDirectory(directory);
}

/** The development issuer's signing key. */
export interface DevelopmentKey {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  /** The public key in the key set. */
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
