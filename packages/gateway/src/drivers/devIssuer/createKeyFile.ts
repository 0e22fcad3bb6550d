import { randomUUID } from 'node:crypto';
import { link, mkdir, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { DEV_ISSUER_ALGORITHM } from './devIssuerAlgorithm.ts';
import { hasErrorCode } from './hasErrorCode.ts';
import { syncDirectory } from './syncDirectory.ts';

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
