import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, syncDirectorySync } from '@prism-gateway/node';

/** Secrets made at the first start and kept in the data directory, so that restarts and sibling processes agree. */
export interface LocalSecrets {
  /** Signs local presigned URLs. */
  readonly objectSigningKey: Uint8Array;
  /** Seals cursors. */
  readonly cursorKey: Uint8Array;
  /** `IDENTITY_APP_SECRET` of the development issuer. */
  readonly devAppSecret: string;
}

const SECRET_BYTES = 32;
const secretForm = /^[0-9a-f]{64}$/;
const newSecret = () => randomBytes(SECRET_BYTES).toString('hex');

function makeFile(directory: string, file: string): void {
  const text = JSON.stringify({ objectSigningKey: newSecret(), cursorKey: newSecret(), devAppSecret: newSecret() });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A link does not replace: of several processes that start at once, the first one's secrets stay.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  syncDirectorySync(directory);
}

function parseSecrets(text: string): LocalSecrets | undefined {
  try {
    const { objectSigningKey = '', cursorKey = '', devAppSecret = '' } = JSON.parse(text) as Record<string, string>;
    if (![objectSigningKey, cursorKey, devAppSecret].every((secret) => secretForm.test(secret))) return undefined;
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
    return { objectSigningKey: bytes(objectSigningKey), cursorKey: bytes(cursorKey), devAppSecret };
  } catch {
    return undefined;
  }
}

/** Reads the secrets of a file. @throws Error if it cannot be read, or is damaged */
export function readLocalSecrets(file: string): LocalSecrets {
  const secrets = parseSecrets(readFileSync(file, 'utf8'));
  if (secrets === undefined) throw new Error(`${file} is damaged; remove it and a new one is made.`);
  return secrets;
}

/**
 * Seals cursors anew from here on: those of before stand behind requests that a restore has made pending again, and are refused.
 *
 * @param file - of secrets that came from a backup; without one, all are made at the start
 * @throws Error if it is damaged
 */
export function renewCursorKey(file: string): void {
  if (!existsSync(file)) return;
  readLocalSecrets(file);
  const text = JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), cursorKey: newSecret() });
  writeFileSync(file, text, { mode: 0o600, flush: true });
}

/**
 * Reads the data directory's secrets, and makes directory and secrets if there are none.
 *
 * @param directory - `DATA_DIR`
 * @throws DirectoryError if the directory cannot be made; Error if it cannot be read or written
 */
export function loadLocalSecrets(directory: string): LocalSecrets {
  makeDirectory(directory);
  const file = join(directory, 'secrets.json');
  try {
    return readLocalSecrets(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  makeFile(directory, file);
  return readLocalSecrets(file);
}
