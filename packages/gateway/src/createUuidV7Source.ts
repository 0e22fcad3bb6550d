import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Makes a source of UUIDs of version 7 that grow within one process, also within one millisecond: the twelve bits after the
 * time are a counter that starts at random below its half.
 *
 * @param now - milliseconds since the epoch
 * @see https://www.rfc-editor.org/rfc/rfc9562#section-6.2 method 1
 */
export function createUuidV7Source(now: () => number): () => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = -1;
  let counter = 0;

  function takeByte(): number {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    // `used` is below the pool's length here.
    return pool[used++]!;
  }

  function takeHex(bytes: number): string {
    let text = '';
    for (let i = 0; i < bytes; i++) text += hex[takeByte()];
    return text;
  }

  return function nextUuidV7() {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = ((takeByte() << 8) | takeByte()) & 0x7ff;
    } else {
      counter++;
      // The counter is full, or the clock went back: go on from the last time, a millisecond later.
      if (counter > 0xfff) {
        lastMs++;
        counter = 0;
      }
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const variant = (0x80 | (takeByte() & 0x3f)).toString(16);
    const middle = (0x7000 | counter).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-${middle}-${variant}${takeHex(1)}-${takeHex(6)}`;
  };
}
