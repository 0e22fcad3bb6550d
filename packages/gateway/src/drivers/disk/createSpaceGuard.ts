import { statfsSync } from 'node:fs';
import type { Logger } from '../../ports/logger.ts';

interface SpaceOptions {
  /** A directory of the file system in question. */
  readonly directory: string;
  /** The refused writes, for the log. */
  readonly what: 'new requests' | 'uploads';
  /** Fewest bytes that have to be free; 0: nobody looks. */
  readonly minFreeBytes: number;
  /** Milliseconds, of a clock that only goes on. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** How long one look at the disk counts, in milliseconds. */
const LOOKED_FOR_MS = 250;

/** @returns bytes that are free on a directory's file system; undefined if it cannot be asked */
export function readFreeBytes(directory: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * Creates the guard of the disk's last free bytes, which claims, reports and the log need. Its first and its last refusal in a row are
 * logged.
 *
 * @returns whether there is room for what strangers want to store; a disk that cannot be asked is taken to have room
 * @see docs/specification.md STORE-9
 */
export function createSpaceGuard({ directory, what, minFreeBytes, now, logger }: SpaceOptions): () => boolean {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let hasRoom = true;

  return function hasSpace() {
    if (minFreeBytes === 0) return true;
    if (now() - lookedAt < LOOKED_FOR_MS) return hasRoom;
    lookedAt = now();
    const before = hasRoom;
    hasRoom = (readFreeBytes(directory) ?? minFreeBytes) >= minFreeBytes;
    if (before && !hasRoom) logger.error({ minFreeBytes }, `the disk is nearly full: ${what} are refused`);
    if (!before && hasRoom) logger.info({ minFreeBytes }, `the disk has room for ${what} again`);
    return hasRoom;
  };
}
