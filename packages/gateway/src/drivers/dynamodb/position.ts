import { InvalidCursorError } from '../../ports/errors.ts';

/** Bytes of a position: six of time, sixteen of the id. */
export const POSITION_BYTES = 22;
const POSITION_DIGITS = 2 * POSITION_BYTES;
/** Hex digits of the time in a position. */
const TIME_DIGITS = 12;

/** A record's place in the queue's order, by `createdAt` and then `requestId`: 44 hex digits, which compare as text. */
export type Position = string;

/** @param record - `createdAt` in milliseconds since the epoch, `requestId` a lower-case UUID */
export function positionOf(record: { readonly createdAt: number; readonly requestId: string }): Position {
  return record.createdAt.toString(16).padStart(TIME_DIGITS, '0') + record.requestId.replaceAll('-', '');
}

/** @returns milliseconds since the epoch */
export const timeOf = (position: Position): number => Number.parseInt(position.slice(0, TIME_DIGITS), 16);

const edgeOf = (time: number, digit: string): Position =>
  positionOf({ createdAt: Math.max(0, time), requestId: '' }).padEnd(POSITION_DIGITS, digit);
/** The place before all records of a time, in milliseconds since the epoch, and behind all earlier ones. */
export const startOf = (time: number): Position => edgeOf(time, '0');
/** The place behind all records of a millisecond. */
export const endOf = (time: number): Position => edgeOf(time, 'f');

/** Writes a position as the bytes of a sort key; bytes sort as the digits do. */
export const positionBytes = (position: Position): Uint8Array => Buffer.from(position, 'hex');

/** The prefix of a lane's sort keys in the index by status; no chain's name holds a zero byte. */
export const laneBytes = (lane: string): Uint8Array => Buffer.from(`${lane}\0`);

/** Writes the sort key of a lane of that index. */
export const lanePositionBytes = (lane: string, position: Position): Uint8Array =>
  Buffer.concat([laneBytes(lane), positionBytes(position)]);

/** Reads the position at the end of a sort key. */
export const readPosition = (key: Uint8Array): Position => Buffer.from(key).toString('hex').slice(-POSITION_DIGITS);

const LOWEST: Position = '0'.repeat(POSITION_DIGITS);
const HIGHEST: Position = 'f'.repeat(POSITION_DIGITS);

/** The position next to another one. @returns undefined: there is none */
function neighbourOf(position: Position, step: 1n | -1n): Position | undefined {
  const neighbour = BigInt(`0x${position}`) + step;
  const digits = neighbour < 0n ? '' : neighbour.toString(16).padStart(POSITION_DIGITS, '0');
  return digits.length === POSITION_DIGITS ? digits : undefined;
}

/** The positions that a walk keeps to. */
export interface PositionBounds {
  readonly lowest: Position;
  readonly highest: Position;
}

const ALL_POSITIONS: PositionBounds = { lowest: LOWEST, highest: HIGHEST };

/** The positions of a range of `createdAt`. @param range - from the one, and before the other */
export const boundsOf = ({
  from,
  to,
}: {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}): PositionBounds => ({
  lowest: from === undefined ? LOWEST : startOf(from),
  highest: to === undefined ? HIGHEST : endOf(to - 1),
});

/**
 * Finds the sort keys behind a position.
 *
 * @param prefix - that they all have
 * @param bounds - the lowest and the highest position that there may be
 * @returns the lowest and the highest that there may be; undefined: there can be none
 */
export function rangeBehind(
  prefix: Uint8Array,
  after: Position | undefined,
  order: 'asc' | 'desc',
  { lowest, highest }: PositionBounds = ALL_POSITIONS,
) {
  const isAscending = order === 'asc';
  const start = after === undefined ? (isAscending ? lowest : highest) : neighbourOf(after, isAscending ? 1n : -1n);
  if (start === undefined) return undefined;
  const [from, to] = isAscending ? [start, highest] : [lowest, start];
  if (from > to) return undefined;
  const key = (position: Position) => Buffer.concat([prefix, positionBytes(position)]);
  return { from: key(from), to: key(to) };
}

/** Writes how far a list was read. @returns base64url */
export const writeCursor = (position: Position): string => Buffer.from(position, 'hex').toString('base64url');

/** Reads it back. @throws InvalidCursorError for any other text */
export function readCursor(cursor: string): Position {
  const all = Buffer.from(cursor, 'base64url');
  if (all.length !== POSITION_BYTES || all.toString('base64url') !== cursor) throw new InvalidCursorError();
  return all.toString('hex');
}
