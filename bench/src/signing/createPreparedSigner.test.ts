import { expect, test } from 'vitest';
import { createKeyPair } from './createKeyPair.ts';
import { createPreparedSigner } from './createPreparedSigner.ts';
import { loadSigningCrypto } from './loadSigningCrypto.ts';

const halfOrder = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0';

test('makes signatures that lead back to the key, with a low s, never the same twice', async () => {
  const crypto = await loadSigningCrypto();
  const { secp256k1, keccak256 } = crypto;
  const signDigest = createPreparedSigner(secp256k1, 100);
  const seen = new Set<string>();
  for (let i = 0; i < 100; i += 1) {
    const { privateKey } = createKeyPair(crypto);
    const digest = keccak256(`digest ${i}`);
    const { hex, recovery } = signDigest(digest, privateKey);
    const recovered = secp256k1.ecdsaRecover(new Uint8Array(Buffer.from(hex, 'hex')), recovery, digest, false);
    expect(recovered).toEqual(secp256k1.publicKeyCreate(privateKey, false));
    expect(hex.slice(64) <= halfOrder).toBe(true);
    seen.add(hex);
  }
  expect(seen.size).toBe(100);
  expect(() => signDigest(keccak256('one more'), createKeyPair(crypto).privateKey)).toThrow('Only 100');
});
