import { randomBytes } from 'node:crypto';
import type { DigestSigner } from './digestSigner.ts';
import type { Secp256k1 } from './loadSecp256k1.ts';

/** Order of the group of secp256k1. @see SEC 2, section 2.4.1 */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The half of a signature that does not depend on what is signed. */
interface Nonce {
  readonly r: bigint;
  readonly recovery: 0 | 1;
  readonly inverse: bigint;
}

/**
 * Makes a signer that did the costly half of its signatures beforehand: what is left costs a tenth, so that the load takes
 * little from the cores it shares with what it measures. The signatures are as good as any; the keys are thrown away.
 *
 * @param secp256k1 the library
 * @param count how many signatures there will be
 * @returns the signer; it throws when it is asked for more
 * @see SEC 1, section 4.1.3
 */
export function createPreparedSigner(secp256k1: Secp256k1, count: number): DigestSigner {
  const nonces = Array.from({ length: count }, () => createNonce(secp256k1));
  return (digest, privateKey) => {
    const nonce = nonces.pop();
    if (nonce === undefined) throw new Error(`Only ${count} signatures were prepared.`);
    const s = (nonce.inverse * (toNumber(digest) + nonce.r * toNumber(privateKey))) % order;
    // The service takes the smaller of the two forms, and the other one's point is the mirror image.
    const isLow = s <= order / 2n;
    const recovery = isLow ? nonce.recovery : nonce.recovery === 0 ? 1 : 0;
    return { hex: toHex(nonce.r) + toHex(isLow ? s : order - s), recovery };
  };
}

function createNonce(secp256k1: Secp256k1): Nonce {
  for (;;) {
    const k = new Uint8Array(randomBytes(32));
    if (!secp256k1.privateKeyVerify(k)) continue;
    // 0x04, then x and y of the point.
    const point = secp256k1.publicKeyCreate(k, false);
    const r = toNumber(point.subarray(1, 33));
    // One in 2^128 points has an x beyond the order, which recovery values 2 and 3 are for.
    if (r >= order) continue;
    return { r, recovery: (point[64] ?? 0) % 2 === 0 ? 0 : 1, inverse: invert(toNumber(k)) };
  }
}

/** Inverse modulo the order, by the extended Euclidean algorithm. */
function invert(value: bigint): bigint {
  let [a, b] = [order, value];
  let [x, y] = [0n, 1n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return x < 0n ? x + order : x;
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`);
}

function toHex(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}
