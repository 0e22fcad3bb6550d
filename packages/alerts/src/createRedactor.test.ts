import { expect, test } from 'vitest';
import { createRedactor } from './createRedactor.ts';

// Shows ALERT-2.
test('secrets, and the parts of URLs that hold them, are taken out', () => {
  const redact = createRedactor([
    `0x${'ab'.repeat(32)}`,
    'smtp://user:p%40ssword@mail.example:587',
    'https://rpc.example/v2/key-123?token=t0ken',
    undefined,
    '',
  ]);
  const text = `key ${'ab'.repeat(32)}, p@ssword and p%40ssword at https://rpc.example/v2/key-123?token=t0ken, path /v2/key-123`;
  expect(redact(text)).toBe('key [secret], [secret] and [secret] at [secret], path [secret]');
  expect(redact('nothing to hide')).toBe('nothing to hide');
});
