import type { Place } from './readItems.ts';

const JUMPI = 0x57;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/** Where the instructions of one code stand in the sources. */
export interface CodeMap {
  /** By the instruction's place in the code. */
  readonly places: ReadonlyMap<number, Place>;
  /** Places in the code of all JUMPI, in their order. */
  readonly jumps: readonly number[];
}

/**
 * Reads the compiler's source map.
 *
 * @param code - as hex
 * @param sourceMap - of that code, as the compiler gives it
 * @param files - paths of the sources, by the compiler's numbers
 * @see https://docs.soliditylang.org/en/latest/internals/source_mappings.html
 */
export function mapCode(code: string, sourceMap: string, files: ReadonlyMap<number, string>): CodeMap {
  const bytes = Buffer.from(code, 'hex');
  const places = new Map<number, Place>();
  const jumps: number[] = [];
  let [start, length, file] = [0, 0, -1];
  let pc = 0;
  for (const entry of sourceMap.split(';')) {
    // An empty field is that of the entry before.
    const fields = entry.split(':');
    if (fields[0]) start = Number(fields[0]);
    if (fields[1]) length = Number(fields[1]);
    if (fields[2]) file = Number(fields[2]);
    const path = files.get(file);
    if (path !== undefined) places.set(pc, { file: path, start, length });
    const op = bytes[pc] ?? 0;
    if (op === JUMPI) jumps.push(pc);
    pc += 1 + (op >= PUSH1 && op <= PUSH32 ? op - PUSH1 + 1 : 0);
  }
  return { places, jumps };
}
