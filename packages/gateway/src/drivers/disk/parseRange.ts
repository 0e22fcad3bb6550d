/** Part of an object, in bytes; `end` is the first byte after it. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Reads a `Range` header of one range.
 *
 * @param header the header's value, or null
 * @param size size of the object in bytes
 * @returns the range; `whole` when the header asks for none, or for something this server may ignore (several ranges,
 * other units, bad syntax); `unsatisfiable` when no byte of the object is in it
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function parseRange(header: string | null, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}
