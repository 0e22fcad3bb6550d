import { access, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '@prism-gateway/node';
import { hasErrorCode } from './loadOrCreateKey.ts';

/** A token of the development issuer's, as far as its revocation goes. */
export interface RevocableToken {
  /** UUID. */
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/** The revoked tokens, as files that all processes see. */
export interface Revocations {
  /** Survives a crash once it has resolved. */
  add(token: RevocableToken): Promise<void>;
  has(token: RevocableToken): Promise<boolean>;
}

export interface RevocationsOptions {
  /** Made when missing. */
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A verifier may let a token in some seconds past `exp`; until then its revocation has to be known. */
const GRACE_SECONDS = 60;
const fileName = /^(\d{1,15})-[0-9a-f-]{36}$/;

async function ignoring(codes: readonly string[], act: Promise<unknown>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!hasErrorCode(error, codes)) throw error;
  }
}

/** The directory's own fsync makes the new, empty file's name durable. */
async function createDurably(directory: string, path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  await file.close();
  await syncDirectory(directory);
}

async function sweep(directory: string, nowMs: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const exp = fileName.exec(name)?.[1];
    if (exp === undefined || (Number(exp) + GRACE_SECONDS) * 1000 > nowMs) continue;
    // Another process may sweep too.
    await ignoring(['ENOENT'], unlink(join(directory, name)));
  }
}

/**
 * Keeps revocations as one empty file each, named `{exp}-{jti}`: made atomically, found by name, swept without reading.
 *
 * @param options - where, and the clock
 * @returns the list
 */
export function createRevocations({ directory, now }: RevocationsOptions): Revocations {
  const pathOf = ({ jti, exp }: RevocableToken): string => {
    const name = `${exp}-${jti}`;
    // Only our own signed tokens come here; nothing else may ever become a path.
    if (!fileName.test(name)) throw new TypeError('not a token of the development issuer');
    return join(directory, name);
  };

  return {
    async add(token) {
      const path = pathOf(token);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await ignoring(['EEXIST'], createDurably(directory, path));
      await sweep(directory, now());
    },
    async has(token) {
      try {
        await access(pathOf(token));
        return true;
      } catch (error) {
        if (hasErrorCode(error, ['ENOENT'])) return false;
        throw error;
      }
    },
  };
}
