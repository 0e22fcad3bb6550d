import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAccount } from '../accounts/openAccount.ts';
import { type KeystoreInput, runKeystore } from './runKeystore.ts';

const KEY = `0x${'4c'.repeat(32)}` as const;
const PASSWORD = 'correct horse battery';

// Shows KEY-2.
test('a key is made or imported into a file that opens, that its owner alone may read, that no other is like, and that is never overwritten', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keystore-'));
  try {
    const printed: string[] = [];
    const answers: string[] = [];
    const run = (args: readonly string[], environment: KeystoreInput['environment']) =>
      runKeystore({
        args,
        environment,
        print: (text) => void printed.push(text),
        ask: async () => answers.shift() ?? '',
      });
    const file = join(dir, 'key.json');
    answers.push(KEY, PASSWORD, PASSWORD);
    await run(['import', file, '--json'], {});
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { address } = await openAccount({ keystore: file, keystorePassword: PASSWORD });
    expect(printed.map((line) => JSON.parse(line))).toEqual([{ address, file }]);
    const before = await readFile(file, 'utf8');
    expect(before).not.toContain('4c4c4c');
    await run(['import', join(dir, 'again.json')], { KEYSTORE_PRIVATE_KEY: KEY, KEYSTORE_PASSWORD: PASSWORD });
    expect(await readFile(join(dir, 'again.json'), 'utf8')).not.toBe(before);
    await expect(run(['new', file], { KEYSTORE_PASSWORD: PASSWORD })).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(file, 'utf8')).toBe(before);
    answers.push(PASSWORD, 'another one, mistyped');
    await expect(run(['new', join(dir, 'b.json')], {})).rejects.toThrow('differ');
    await expect(run(['new', join(dir, 'b.json')], { KEYSTORE_PASSWORD: 'short' })).rejects.toThrow('12');
    await expect(run(['old', file], {})).rejects.toThrow('keystore new FILE');
    await expect(run(['import', file], { KEYSTORE_PRIVATE_KEY: `0x${'00'.repeat(32)}` })).rejects.toThrow('no key');
  } finally {
    await rm(dir, { recursive: true });
  }
});
