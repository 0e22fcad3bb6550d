import { expect, test } from 'vitest';
import { deriveScrypt } from './deriveScrypt.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const salt = (text: string) => Buffer.from(text);

/** RFC 7914, section 12. What is beyond the definition, the test vector of keystores covers. */
test('gives what the definition gives', async () => {
  const first = await deriveScrypt({ password: 'password', salt: salt('NaCl'), n: 1024, r: 8, p: 16, keyBytes: 64 });
  expect(hex(first)).toBe(
    'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
  );
});
