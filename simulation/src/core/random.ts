/** A stream of numbers that a seed determines. */
export interface Random {
  /** @returns from 0 to below 1 */
  next(): number;
  /** @returns a whole number from `min` to `max`, both included */
  between(min: number, max: number): number;
  /** @returns true with the probability, from 0 to 1 */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(count: number): Uint8Array<ArrayBuffer>;
  /** @returns a stream of its own, which depends on the seed and the name alone */
  fork(name: string): Random;
}

const UINT32 = 2 ** 32;

/** Mixes a text into 32 bits. @see FNV-1a, with the finalizer of MurmurHash3 */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Makes a stream of random numbers.
 *
 * @param seed - any text; the same one gives the same stream
 * @see sfc32 of PractRand
 */
export function createRandom(seed: string): Random {
  let [a, b, c, counter] = [hashText(`${seed}:a`), hashText(`${seed}:b`), hashText(`${seed}:c`), 1];
  function nextWord(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  }
  for (let i = 0; i < 12; i++) nextWord();
  const next = () => nextWord() / UINT32;
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    // Never called with an empty list.
    pick: <T>(items: readonly T[]) => items[between(0, items.length - 1)] as T,
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i++) bytes[i] = nextWord() & 0xff;
      return bytes;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}
