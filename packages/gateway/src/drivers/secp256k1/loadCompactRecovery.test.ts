import { loadSecp256k1 } from '@prism-gateway/node/crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadCompactRecovery } from './loadCompactRecovery.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

it('recovers what another build of the library recovers, and nothing else', async () => {
  const recover = await loadCompactRecovery();
  const { recoverPublicKey: other } = loadSecp256k1('wasm');
  const half = fc.oneof(bytes(32), fc.constant(new Uint8Array(32)), fc.constant(new Uint8Array(32).fill(255)));
  const signature = fc.tuple(half, half).map(([r, s]) => Uint8Array.from([...r, ...s]));
  fc.assert(
    fc.property(bytes(32), signature, fc.nat(1), (digest, rs, recovery) => {
      expect(recover(digest, rs, recovery)).toEqual(other(digest, rs, recovery));
    }),
    // About every second r is no point's.
    { numRuns: 300 },
  );
});

it('gives keys that later calls leave alone', async () => {
  const recover = await loadCompactRecovery();
  const signature = new Uint8Array(64).fill(1);
  const first = recover(new Uint8Array(32).fill(2), signature, 0);
  const copy = first?.slice();
  recover(new Uint8Array(32).fill(3), signature, 1);
  expect(first).toHaveLength(64);
  expect(first).toEqual(copy);
});
