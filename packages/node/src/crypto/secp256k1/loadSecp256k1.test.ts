import { randomBytes } from 'node:crypto';
import { bytesToHex, hexToBytes } from 'viem';
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { loadSecp256k1 } from './loadSecp256k1.ts';

const builds = [loadSecp256k1('native'), loadSecp256k1('wasm')];

describe.each(builds)('the $build build', ({ build, recoverPublicKey, sign: signDigest }) => {
  test('says which it is', () => {
    expect(loadSecp256k1(build).build).toBe(build);
  });

  test('finds the key that signed, and signs the same bytes, as another implementation does', async () => {
    for (let i = 0; i < 20; i++) {
      const privateKey = generatePrivateKey();
      const digest = randomBytes(32);
      const { r, s, yParity = 0 } = await sign({ hash: `0x${digest.toString('hex')}`, privateKey });
      const key = recoverPublicKey(digest, hexToBytes(`${r}${s.slice(2)}`), yParity);
      expect(Buffer.from(key ?? []).toString('hex')).toBe(privateKeyToAccount(privateKey).publicKey.slice(4));
      const { signature, recovery } = signDigest(digest, hexToBytes(privateKey));
      expect([bytesToHex(signature), recovery]).toEqual([`${r}${s.slice(2)}`, yParity]);
    }
  });

  test('finds none for r or s out of range, without throwing', () => {
    const digest = new Uint8Array(32).fill(1);
    const half = (byte: number) => new Uint8Array(32).fill(byte);
    for (const [r, s] of [
      [half(0), half(1)],
      [half(1), half(0)],
      [half(0xff), half(1)],
      [half(1), half(0xff)],
      [half(0), half(0)],
    ] as const) {
      for (const recovery of [0, 1]) expect(recoverPublicKey(digest, Buffer.concat([r, s]), recovery)).toBeUndefined();
    }
  });

  test('gives keys that later calls leave alone', () => {
    const first = recoverPublicKey(new Uint8Array(32).fill(2), new Uint8Array(64).fill(1), 0);
    const copy = first?.slice();
    recoverPublicKey(new Uint8Array(32).fill(3), new Uint8Array(64).fill(1), 1);
    expect(first).toHaveLength(64);
    expect(first).toEqual(copy);
  });

  test('does not sign with what is no key', () => {
    for (const byte of [0, 0xff]) {
      expect(() => signDigest(new Uint8Array(32).fill(1), new Uint8Array(32).fill(byte))).toThrow();
    }
  });
});

test('both builds say the same of random bytes', () => {
  for (let i = 0; i < 200; i++) {
    const [digest, signature] = [randomBytes(32), randomBytes(64)];
    const keys = builds.map((library) =>
      Buffer.from(library.recoverPublicKey(digest, signature, i & 1) ?? []).toString('hex'),
    );
    expect(new Set(keys).size).toBe(1);
  }
});

test('some build is always there', () => {
  expect(['native', 'wasm']).toContain(loadSecp256k1().build);
});
