import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Size and hash of a file. */
export interface Digest {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Bytes read at once: larger parts make hashing of a gigabyte a second faster. */
const CHUNK_BYTES = 1024 * 1024;

/** Files copied together: each waits for the disk. */
const AT_ONCE = 16;

/** @param file - path of a file that nobody writes to */
export async function digestFile(file: string): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    hash.update(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Copies what is read to a new file, on the disk once this resolves.
 *
 * @param from - read to its end
 * @param to - path where nothing is yet; only its owner may read it
 * @returns size and hash of what was written
 */
export async function copyFile(from: Readable, to: string): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(part: Buffer, _, done) {
      hash.update(part);
      bytes += part.length;
      done(null, part);
    },
  });
  await pipeline(from, meter, createWriteStream(to, { flags: 'wx', mode: 0o600, flush: true }));
  return { bytes, sha256: hash.digest('hex') };
}

/** Carries out an act on each item, on several at once. */
export async function forEachOf<T>(items: AsyncGenerator<T>, act: (item: T) => Promise<void>): Promise<void> {
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for await (const item of items) await act(item);
  });
  await Promise.all(lanes);
}
