import { crc32 } from 'node:zlib';
import { InvalidCursorError } from '../../ports/errors.ts';
import { type Position, positionOf } from './position.ts';

/** First byte of a cursor; grows with the format. */
const VERSION = 1;
const POSITION_BYTES = 22;
/** Hex digits of the time in a position, and of the id. */
const TIME_DIGITS = 12;
const ID_DIGITS = 32;
/** An entry that was given: two bytes of time after `known`, three that tell it from others. */
const GIVEN_BYTES = 5;
const TIME_UNIT_MS = 16;
const MOST_UNITS = 0xffff;

/** An entry of an index that was given a short while ago. */
export interface Given {
  /** Milliseconds since the epoch; never before the entry's own time. */
  readonly time: number;
  readonly mark: number;
}

/**
 * How far an index was read. It follows its table late and not in order, so an entry may come to lie behind others that were given.
 *
 *     nothing ──── passed ──── known ──── … the end
 *        never looked   looked at    given, unless it came
 *        at again       once more    meanwhile: `given` tells
 */
export interface Track {
  /** All up to here was given, and had the time to arrive. */
  readonly passed: Position;
  /** After this place `given` knows all that was given. */
  readonly known: Position;
  readonly given: readonly Given[];
}

/** A place in the feed of a chain. */
export interface FeedCursor {
  readonly pending: Track;
  readonly released: Track;
  /** Claims that lapsed were given up to this one, by `claimedAt`. */
  readonly lapsed: Position;
}

/** Most entries that a cursor remembers of each index; with them it is 748 characters in the end, of 756 that a client may send back. */
export const MOST_GIVEN = { pending: 64, released: 16 } as const;

/** @returns milliseconds since the epoch */
export const timeOf = (position: Position): number => Number.parseInt(position.slice(0, TIME_DIGITS), 16);

/** The place before all records of a millisecond. */
export const startOf = (time: number): Position =>
  positionOf({ createdAt: Math.max(0, time), requestId: '0'.repeat(ID_DIGITS) });

/** The place behind all records of a millisecond. */
export const endOf = (time: number): Position =>
  positionOf({ createdAt: Math.max(0, time), requestId: 'f'.repeat(ID_DIGITS) });

/** Tells an entry from the others in few bits. */
export const markOf = (position: Position): number => crc32(position) & 0xffffff;

function writeGiven({ known, given }: Track): Buffer {
  const bytes = Buffer.alloc(given.length * GIVEN_BYTES);
  for (const [i, { time, mark }] of given.entries()) {
    const units = Math.min(MOST_UNITS, Math.max(0, Math.ceil((time - timeOf(known)) / TIME_UNIT_MS)));
    bytes.writeUInt16BE(units, i * GIVEN_BYTES);
    bytes.writeUIntBE(mark, i * GIVEN_BYTES + 2, 3);
  }
  return bytes;
}

function readGiven(known: Position, bytes: Buffer): Given[] {
  return Array.from({ length: bytes.length / GIVEN_BYTES }, (_, i) => ({
    time: timeOf(known) + bytes.readUInt16BE(i * GIVEN_BYTES) * TIME_UNIT_MS,
    mark: bytes.readUIntBE(i * GIVEN_BYTES + 2, 3),
  }));
}

/** Writes a place as text. @returns base64url */
export function writeFeedCursor({ pending, released, lapsed }: FeedCursor): string {
  const positions = [pending.passed, pending.known, released.passed, released.known, lapsed];
  const head = [VERSION, pending.given.length];
  const parts = [Buffer.from(head), Buffer.from(positions.join(''), 'hex'), writeGiven(pending), writeGiven(released)];
  return Buffer.concat(parts).toString('base64url');
}

/** Reads it back. @throws InvalidCursorError for any other text */
export function readFeedCursor(text: string): FeedCursor {
  const all = Buffer.from(text, 'base64url');
  const [version = 0, count = 0] = all;
  const positionAt = (i: number): Position => all.toString('hex', 2 + i * POSITION_BYTES, 2 + (i + 1) * POSITION_BYTES);
  const given = all.subarray(2 + 5 * POSITION_BYTES);
  const isWhole = all.length >= 2 + 5 * POSITION_BYTES && given.length % GIVEN_BYTES === 0;
  if (version !== VERSION || !isWhole || count * GIVEN_BYTES > given.length || all.toString('base64url') !== text) {
    throw new InvalidCursorError();
  }
  const trackOf = (i: number, bytes: Buffer): Track => {
    const known = positionAt(i + 1);
    return { passed: positionAt(i), known, given: readGiven(known, bytes) };
  };
  return {
    pending: trackOf(0, given.subarray(0, count * GIVEN_BYTES)),
    released: trackOf(2, given.subarray(count * GIVEN_BYTES)),
    lapsed: positionAt(4),
  };
}
