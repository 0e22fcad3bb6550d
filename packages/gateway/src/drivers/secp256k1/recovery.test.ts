import { randomBytes } from 'node:crypto';
import { hexToBytes, keccak256 as viemKeccak256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { loadCompactRecovery } from './loadCompactRecovery.ts';
import { loadKeccak256 } from './loadKeccak256.ts';
import { loadNativeRecovery } from './loadNativeRecovery.ts';
import { loadRequestCrypto } from './loadRequestCrypto.ts';
import { loadWasmRecovery } from './loadWasmRecovery.ts';

const builds = [
  ['native', await loadNativeRecovery()],
  ['wasm', await loadWasmRecovery()],
  ['compact wasm', await loadCompactRecovery()],
] as const;

describe.each(builds)('recovery on %s', (_, recoverPublicKey) => {
  test('finds the key that signed, as another implementation knows it', async () => {
    for (let i = 0; i < 20; i++) {
      const privateKey = generatePrivateKey();
      const digest = randomBytes(32);
      const { r, s, yParity = 0 } = await sign({ hash: `0x${digest.toString('hex')}`, privateKey });
      const key = recoverPublicKey(digest, hexToBytes(`${r}${s.slice(2)}`), yParity);
      expect(Buffer.from(key ?? []).toString('hex')).toBe(privateKeyToAccount(privateKey).publicKey.slice(4));
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
});

test('all builds say the same of random bytes', () => {
  for (let i = 0; i < 200; i++) {
    const [digest, signature] = [randomBytes(32), randomBytes(64)];
    const keys = builds.map(([, recover]) => Buffer.from(recover(digest, signature, i & 1) ?? []).toString('hex'));
    expect(new Set(keys).size).toBe(1);
  }
});

test('keccak-256 is that of another implementation, also of nothing and of much', async () => {
  const keccak256 = await loadKeccak256();
  for (const length of [0, 1, 135, 136, 137, 272, 262_144]) {
    const bytes = randomBytes(length);
    expect(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`).toBe(viemKeccak256(bytes));
  }
});

test('two hashes do not share a buffer', async () => {
  const keccak256 = await loadKeccak256();
  const first = keccak256(new Uint8Array([1]));
  const before = Buffer.from(first).toString('hex');
  keccak256(new Uint8Array([2]));
  expect(Buffer.from(first).toString('hex')).toBe(before);
});

test('the build is named', async () => {
  expect(['native', 'wasm']).toContain((await loadRequestCrypto()).build);
});
