import { expect, test } from 'vitest';
import { decryptKeystore, encryptKeystore } from './keystore.ts';

const KEY = `0x${'4c'.repeat(32)}` as const;

// Shows KEY-2.
// That no other password opens one, openAccount.test.ts shows of a derivation that takes no second.
test('a keystore opens with its password, and no two of one key are alike', async () => {
  const keystore = await encryptKeystore(KEY, 'correct horse');
  expect(keystore).not.toContain('4c4c4c');
  expect(await decryptKeystore(keystore, 'correct horse')).toBe(KEY);
  expect(await encryptKeystore(KEY, 'correct horse')).not.toBe(keystore);
});
