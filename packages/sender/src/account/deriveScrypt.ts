import { pbkdf2Sync, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/** Parameters of scrypt, named as in RFC 7914. */
export interface ScryptParameters {
  readonly password: string;
  readonly salt: Uint8Array;
  /** CPU and memory cost, a power of two. */
  readonly n: number;
  /** Block size, in units of 128 bytes. */
  readonly r: number;
  /** Parallelisation. */
  readonly p: number;
  /** Length of the key, in bytes. */
  readonly keyBytes: number;
}

// Typed arrays of known length: what is read from them is there.
const at = (words: Uint32Array, place: number) => words[place] as number;

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits));

/** Salsa20/8 in place (RFC 7914, section 3); written out, since it runs millions of times. */
function mixSalsa(x: Uint32Array): void {
  let x0 = at(x, 0) | 0;
  let x1 = at(x, 1) | 0;
  let x2 = at(x, 2) | 0;
  let x3 = at(x, 3) | 0;
  let x4 = at(x, 4) | 0;
  let x5 = at(x, 5) | 0;
  let x6 = at(x, 6) | 0;
  let x7 = at(x, 7) | 0;
  let x8 = at(x, 8) | 0;
  let x9 = at(x, 9) | 0;
  let x10 = at(x, 10) | 0;
  let x11 = at(x, 11) | 0;
  let x12 = at(x, 12) | 0;
  let x13 = at(x, 13) | 0;
  let x14 = at(x, 14) | 0;
  let x15 = at(x, 15) | 0;
  for (let round = 0; round < 4; round++) {
    x4 ^= rotate((x0 + x12) | 0, 7);
    x8 ^= rotate((x4 + x0) | 0, 9);
    x12 ^= rotate((x8 + x4) | 0, 13);
    x0 ^= rotate((x12 + x8) | 0, 18);
    x9 ^= rotate((x5 + x1) | 0, 7);
    x13 ^= rotate((x9 + x5) | 0, 9);
    x1 ^= rotate((x13 + x9) | 0, 13);
    x5 ^= rotate((x1 + x13) | 0, 18);
    x14 ^= rotate((x10 + x6) | 0, 7);
    x2 ^= rotate((x14 + x10) | 0, 9);
    x6 ^= rotate((x2 + x14) | 0, 13);
    x10 ^= rotate((x6 + x2) | 0, 18);
    x3 ^= rotate((x15 + x11) | 0, 7);
    x7 ^= rotate((x3 + x15) | 0, 9);
    x11 ^= rotate((x7 + x3) | 0, 13);
    x15 ^= rotate((x11 + x7) | 0, 18);
    x1 ^= rotate((x0 + x3) | 0, 7);
    x2 ^= rotate((x1 + x0) | 0, 9);
    x3 ^= rotate((x2 + x1) | 0, 13);
    x0 ^= rotate((x3 + x2) | 0, 18);
    x6 ^= rotate((x5 + x4) | 0, 7);
    x7 ^= rotate((x6 + x5) | 0, 9);
    x4 ^= rotate((x7 + x6) | 0, 13);
    x5 ^= rotate((x4 + x7) | 0, 18);
    x11 ^= rotate((x10 + x9) | 0, 7);
    x8 ^= rotate((x11 + x10) | 0, 9);
    x9 ^= rotate((x8 + x11) | 0, 13);
    x10 ^= rotate((x9 + x8) | 0, 18);
    x12 ^= rotate((x15 + x14) | 0, 7);
    x13 ^= rotate((x12 + x15) | 0, 9);
    x14 ^= rotate((x13 + x12) | 0, 13);
    x15 ^= rotate((x14 + x13) | 0, 18);
  }
  x[0] = at(x, 0) + x0;
  x[1] = at(x, 1) + x1;
  x[2] = at(x, 2) + x2;
  x[3] = at(x, 3) + x3;
  x[4] = at(x, 4) + x4;
  x[5] = at(x, 5) + x5;
  x[6] = at(x, 6) + x6;
  x[7] = at(x, 7) + x7;
  x[8] = at(x, 8) + x8;
  x[9] = at(x, 9) + x9;
  x[10] = at(x, 10) + x10;
  x[11] = at(x, 11) + x11;
  x[12] = at(x, 12) + x12;
  x[13] = at(x, 13) + x13;
  x[14] = at(x, 14) + x14;
  x[15] = at(x, 15) + x15;
}

/** scryptBlockMix: the 2·r blocks of 16 words in `from`, mixed into `to`; `x` is room to work in. */
function mixBlocks({ from, to, x }: { from: Uint32Array; to: Uint32Array; x: Uint32Array }): void {
  const blocks = from.length / 16;
  x.set(from.subarray(from.length - 16));
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) x[i] = at(x, i) ^ at(from, block * 16 + i);
    mixSalsa(x);
    // Even blocks come first, then odd ones.
    to.set(x, ((block >> 1) + (block % 2) * (blocks / 2)) * 16);
  }
}

/** scryptROMix, in place. */
function mixMemory(block: Uint32Array, n: number): void {
  const words = block.length;
  const memory = new Uint32Array(words * n);
  const other = new Uint32Array(words);
  const x = new Uint32Array(16);
  for (let i = 0; i < n; i++) {
    memory.set(block, i * words);
    mixBlocks({ from: block, to: other, x });
    block.set(other);
  }
  for (let i = 0; i < n; i++) {
    const from = (at(block, words - 16) & (n - 1)) * words;
    for (let k = 0; k < words; k++) block[k] = at(block, k) ^ at(memory, from + k);
    mixBlocks({ from: block, to: other, x });
    block.set(other);
  }
}

/** scrypt in JavaScript, several times slower than OpenSSL's. */
function deriveSlowly({ password, salt, n, r, p, keyBytes }: ScryptParameters): Uint8Array {
  const derived = pbkdf2Sync(password, salt, 1, p * 128 * r, 'sha256');
  // Words are little-endian in scrypt, as on every machine that Node.js runs on.
  const words = new Uint32Array(new Uint8Array(derived).buffer);
  for (let lane = 0; lane < p; lane++) mixMemory(words.subarray(lane * 32 * r, (lane + 1) * 32 * r), n);
  return pbkdf2Sync(password, new Uint8Array(words.buffer), 1, keyBytes, 'sha256');
}

/**
 * Derives a key with scrypt. OpenSSL insists on `n < 2^(16·r)`, as RFC 7914 does; keystores exist that do not keep to it, such as
 * the test vector of their own definition.
 *
 * @param parameters - already bounded by the caller
 * @returns the key
 * @see https://www.rfc-editor.org/rfc/rfc7914
 */
export async function deriveScrypt(parameters: ScryptParameters): Promise<Uint8Array> {
  const { password, salt, n, r, p, keyBytes } = parameters;
  if (n >= 2 ** (16 * r)) return deriveSlowly(parameters);
  // Some room beside what RFC 7914 counts.
  const maxmem = 128 * (n + p + 2) * r + 1_048_576;
  return await promisify<string, Uint8Array, number, object, Buffer>(scrypt)(password, salt, keyBytes, {
    N: n,
    r,
    p,
    maxmem,
  });
}
