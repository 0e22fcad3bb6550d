import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item as DynamoDB's API has it. */
export type Item = Record<string, AttributeValue>;

/** Writes text. */
export const text = (value: string): AttributeValue => ({ S: value });

/** Writes a number. */
export const number = (value: number): AttributeValue => ({ N: String(value) });

/** Writes bytes. */
export const bytes = (value: Uint8Array): AttributeValue => ({ B: value });

/** An item that this driver cannot have written. */
export class BrokenItemError extends Error {
  override readonly name = 'BrokenItemError';
  readonly code = 'BROKEN_ITEM';

  constructor(attribute: string) {
    super(`An item lacks the attribute ${attribute}, or has it in another type: something else wrote to the table.`);
  }
}

/** Reads text. @throws BrokenItemError */
export function readText(item: Item, attribute: string): string {
  const value = item[attribute]?.S;
  if (value === undefined) throw new BrokenItemError(attribute);
  return value;
}

/** Reads a number. @throws BrokenItemError */
export function readNumber(item: Item, attribute: string): number {
  const value = item[attribute]?.N;
  if (value === undefined) throw new BrokenItemError(attribute);
  return Number(value);
}

/** Reads bytes. @throws BrokenItemError */
export function readBytes(item: Item, attribute: string): Uint8Array {
  const value = item[attribute]?.B;
  if (value === undefined) throw new BrokenItemError(attribute);
  return value;
}

/** Digits of a number that fit one byte. */
const DIGITS_A_BYTE = 2;

function sizeOfValue(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.B !== undefined) return value.B.length;
  if (value.N !== undefined) return Math.ceil(value.N.length / DIGITS_A_BYTE) + 1;
  throw new BrokenItemError('(of a type that is not used here)');
}

/**
 * Computes the size that DynamoDB bills an item by, at most a byte a number too much.
 *
 * @returns bytes
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function sizeOfItem(item: Item): number {
  return Object.entries(item).reduce((size, [name, value]) => size + Buffer.byteLength(name) + sizeOfValue(value), 0);
}
