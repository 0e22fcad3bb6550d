import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinSignature, SignatureFormatError, splitSignature } from './signature.ts';

const r = `0x${'1f'.repeat(32)}`;
const s = `0x${'2e'.repeat(32)}`;
const body = `${r}${s.slice(2)}`;

test('a signature is split into its three fields', () => {
  expect(splitSignature(`${body}1b`)).toEqual({ v: 27, r, s });
  expect(splitSignature(`${body}1C`)).toEqual({ v: 28, r, s });
});

test('a recovery value of 0 or 1 is read as 27 or 28', () => {
  expect(splitSignature(`${body}00`).v).toBe(27);
  expect(splitSignature(`${body}01`).v).toBe(28);
});

test('halves keep their leading zeros', () => {
  const small = `0x${'1'.padStart(64, '0')}`;
  expect(splitSignature(`${small}${small.slice(2)}1b`)).toEqual({ v: 27, r: small, s: small });
});

test('what was split is joined to the same', () => {
  const half = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  fc.assert(
    fc.property(half, half, fc.constantFrom(27, 28), (r, s, v) => {
      expect(splitSignature(joinSignature({ v, r, s }))).toEqual({ v, r, s });
    }),
  );
});

describe('refuses', () => {
  test.each([
    ['nothing', ''],
    ['0x alone', '0x'],
    ['no 0x', `${body}1b`.slice(2)],
    ['64 bytes', body],
    ['66 bytes', `${body}1b00`],
    ['66 bytes that end in a recovery value', `${body}001b`],
    ['half a byte less', `${body}1`],
    ['letters that are not hex', `${body}zz`],
    ['a line end', `${body}1b\n`],
    ['a recovery value of 2', `${body}02`],
    ['a recovery value of 26', `${body}1a`],
    ['a recovery value of 29', `${body}1d`],
    ['a recovery value of 255', `${body}ff`],
  ])('%s', (_, signature) => {
    expect(() => splitSignature(signature)).toThrow(SignatureFormatError);
    expect(() => splitSignature(signature)).toThrow(expect.objectContaining({ code: 'SIGNATURE_FORMAT' }));
  });

  test('without repeating the signature', () => {
    expect(() => splitSignature(`${body}1d`)).not.toThrow(/1f1f/);
    expect(() => splitSignature(`${body}1d`)).toThrow('27, 28, 0 or 1');
  });
});
