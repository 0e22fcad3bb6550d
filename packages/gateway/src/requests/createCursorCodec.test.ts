import { describe, expect, test } from 'vitest';
import { createCursorCodec } from './createCursorCodec.ts';

const SIGNER = '0x52908400098527886E0F7030069857D2E4169EE7';
const key = new Uint8Array(32).fill(7);
const codec = createCursorCodec(key);
const position = '1767225600000|0197c2a4-5b1e-7c3d-8f60-0242ac120002|é';
const scope = { filter: { signer: SIGNER, status: 'pending', chainName: 'eip155:1' }, order: 'asc' } as const;
const sealed = codec.seal(position, scope);
const refused = expect.objectContaining({ code: 'INVALID_CURSOR' });

test('opens to the position that was sealed, in any process with the key', () => {
  expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(codec.open(sealed, scope)).toBe(position);
  expect(createCursorCodec(key).open(sealed, scope)).toBe(position);
  expect(codec.open(codec.seal('', scope), scope)).toBe('');
});

test('letter case does not tell signers apart', () => {
  const lower = { ...scope, filter: { ...scope.filter, signer: SIGNER.toLowerCase() } };
  expect(codec.open(sealed, lower)).toBe(position);
});

// Shows STORE-3.
test('every bit is guarded', () => {
  const bytes = Buffer.from(sealed, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => codec.open(altered.toString('base64url'), scope), `bit ${bit}`).toThrow(refused);
  }
});

test('no part of it, nothing around it and no other way to write it will do', () => {
  for (let length = 0; length < sealed.length; length++) {
    expect(() => codec.open(sealed.slice(0, length), scope)).toThrow(refused);
  }
  const lastLetter = sealed.at(-1) === 'A' ? 'B' : 'A';
  const others = [
    `${sealed}A`,
    `${sealed}=`,
    `${sealed} `,
    ` ${sealed}`,
    `${sealed}\n`,
    sealed.slice(0, -1) + lastLetter,
  ];
  for (const other of [...others, '', '=', '%', 'é', '-'.repeat(10_000)]) {
    expect(() => codec.open(other, scope)).toThrow(refused);
  }
});

describe('belongs to its list:', () => {
  const { filter } = scope;
  test.each([
    ['another order', { ...scope, order: 'desc' as const }],
    ['another signer', { ...scope, filter: { ...filter, signer: `${SIGNER.slice(0, -1)}8` } }],
    ['another status', { ...scope, filter: { ...filter, status: 'processing' as const } }],
    ['another chain', { ...scope, filter: { ...filter, chainName: 'eip155:10' } }],
    ['another letter case of the chain', { ...scope, filter: { ...filter, chainName: 'EIP155:1' } }],
    ['no signer', { ...scope, filter: { status: filter.status, chainName: filter.chainName } }],
    ['no status', { ...scope, filter: { signer: filter.signer, chainName: filter.chainName } }],
    ['no filter', { ...scope, filter: {} }],
  ])('%s is refused', (_, other) => {
    expect(() => codec.open(sealed, other)).toThrow(refused);
  });

  test('another deployment’s key is refused', () => {
    const other = createCursorCodec(new Uint8Array(32).fill(8));
    expect(() => other.open(sealed, scope)).toThrow(refused);
  });
});
