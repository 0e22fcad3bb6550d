import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { bytesToHex, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { AccountError } from '../accounts/account.ts';
import { encryptKeystore } from '../accounts/keystore.ts';

/** The output of `npx prism keystore --help`. */
export const keystoreUsage = `Prism keystore: npx prism keystore

  npx prism keystore new FILE        makes a key and writes it, encrypted, to FILE
  npx prism keystore import FILE     encrypts a key that is there already

  --json    one line of JSON with address and file

The password is asked for, or taken from KEYSTORE_PASSWORD. The key to import is asked for, or taken from KEYSTORE_PRIVATE_KEY. FILE must
not exist; only its owner may read it. The address is printed, the key never.
`;

/** Shorter ones are tried out in hours. */
const MIN_PASSWORD_LENGTH = 12;

/** A command line that is none. */
export class KeystoreUsageError extends Error {
  override readonly name = 'KeystoreUsageError';
  readonly code = 'COMMAND_USAGE';
}

/** Names what stands there and should not. */
function describeFault(command: string | undefined, rest: readonly string[]): string {
  const isKnown = command === undefined || command === 'new' || command === 'import';
  const wrong = isKnown ? rest[0] : command;
  return wrong === undefined ? 'Something is missing.' : `It takes no argument "${wrong}".`;
}

/** The command's input. */
export interface KeystoreInput {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prints a line. */
  readonly print: (text: string) => void;
  /** Asks a person for a secret, without showing it. */
  readonly ask: (question: string) => Promise<string>;
}

async function readPassword({ environment, ask }: KeystoreInput): Promise<string> {
  const given = environment.KEYSTORE_PASSWORD;
  const password = given ?? (await ask('Password: '));
  if (password.length < MIN_PASSWORD_LENGTH)
    throw new AccountError('INVALID_ARGUMENT', `The password needs at least ${MIN_PASSWORD_LENGTH} characters.`);
  if (given === undefined && (await ask('Once more: ')) !== password)
    throw new AccountError('INVALID_ARGUMENT', 'The passwords differ; nothing was written.');
  return password;
}

async function readKey({ environment, ask }: KeystoreInput): Promise<Hex> {
  const text = (environment.KEYSTORE_PRIVATE_KEY ?? (await ask('Private key: '))).trim();
  if (!/^(0x)?[0-9a-f]{64}$/i.test(text))
    throw new AccountError('INVALID_ARGUMENT', 'The private key must be 64 hex digits.');
  return `0x${text.replace(/^0x/i, '')}`;
}

/** Nothing about the key goes into an error. */
function addressOf(key: Hex): string {
  try {
    return privateKeyToAddress(key);
  } catch {
    throw new AccountError('INVALID_ARGUMENT', 'The private key is no key of secp256k1.');
  }
}

/**
 * `keystore new FILE`, `keystore import FILE`, each with or without `--json`.
 *
 * @throws KeystoreUsageError; AccountError `INVALID_ARGUMENT`; Error of node:fs, such as EEXIST
 * @see docs/specification.md KEY-2
 */
export async function runKeystore(input: KeystoreInput): Promise<void> {
  const isJson = input.args.includes('--json');
  const [command, file, ...rest] = input.args.filter((word) => word !== '--json');
  if ((command !== 'new' && command !== 'import') || file === undefined || file.startsWith('-') || rest.length > 0)
    throw new KeystoreUsageError(
      `${describeFault(command, rest)} Say \`keystore new FILE\` or \`keystore import FILE\`; try --help.`,
    );
  const key = command === 'new' ? bytesToHex(randomBytes(32)) : await readKey(input);
  const address = addressOf(key);
  const text = await encryptKeystore(key, await readPassword(input));
  // `wx`: what is there may be the only copy of another key.
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  input.print(isJson ? JSON.stringify({ address, file }) : `${address}  ${file}`);
}
