import { InvalidCursorError } from '../../ports/errors.ts';

/** Bytes of a position: six of time, sixteen of the id. */
const POSITION_BYTES = 22;
/** Hex digits of the time in a position. */
const TIME_DIGITS = 12;

/**
 * A record's place in the queue's order, by `createdAt` and then `requestId`: 44 hex digits, which compare as text.
 */
export type Position = string;

/** The position of no record, before all others; in a cursor: nothing read yet. */
const NOWHERE: Position = '0'.repeat(POSITION_BYTES * 2);

/**
 * @param record - `createdAt` in milliseconds since the epoch, `requestId` a lower-case UUID
 * @returns the record's position
 */
export function positionOf(record: { readonly createdAt: number; readonly requestId: string }): Position {
  return record.createdAt.toString(16).padStart(TIME_DIGITS, '0') + record.requestId.replaceAll('-', '');
}

/** Writes a position as the bytes of a sort key; bytes sort as the digits do. */
export const positionBytes = (position: Position): Uint8Array => Buffer.from(position, 'hex');

/** Reads a sort key. */
export const readPosition = (key: Uint8Array): Position => Buffer.from(key).toString('hex');

/** The position before all records of a time, in milliseconds since the epoch, and behind all earlier ones. */
const startOf = (createdAt: number): Position =>
  positionOf({ createdAt, requestId: '' }).padEnd(POSITION_BYTES * 2, '0');

/**
 * Writes how far each partition of a walk was read as one text.
 *
 * @param positions - one a partition, in their order; undefined: nothing read yet
 * @returns base64url, 29 characters a partition
 */
export function writePositions(positions: readonly (Position | undefined)[]): string {
  return Buffer.from(positions.map((position) => position ?? NOWHERE).join(''), 'hex').toString('base64url');
}

/**
 * Reads it back.
 *
 * @param text - as `writePositions` made it
 * @param count - of partitions
 * @throws InvalidCursorError for any other text, and after a change of the number of shards
 */
export function readPositions(text: string, count: number): (Position | undefined)[] {
  const all = Buffer.from(text, 'base64url');
  if (all.length !== POSITION_BYTES * count || all.toString('base64url') !== text) throw new InvalidCursorError();
  return Array.from({ length: count }, (_, i) => {
    const position = all.toString('hex', i * POSITION_BYTES, (i + 1) * POSITION_BYTES);
    return position === NOWHERE ? undefined : position;
  });
}

/**
 * Writes where a list begins that leaves out what was created before a time.
 *
 * @param from - milliseconds since the epoch
 * @param shards - `INDEX_SHARDS`
 * @returns `after` of the list
 */
export function writeBeginning(from: number, shards: number): string {
  return writePositions(Array.from({ length: shards }, () => startOf(from)));
}
