import type { CodeMap } from './mapCode.ts';
import type { Branch, Items, Place } from './readItems.ts';

/** One code, and what was executed of it. */
export interface Run extends CodeMap {
  readonly pcs: ReadonlySet<number>;
  /** By the place of a JUMPI: 1 it went on, 2 it jumped, 3 both. */
  readonly outcomes: ReadonlyMap<number, number>;
}

/** What was executed of one file. */
export interface FileCoverage {
  readonly file: string;
  readonly lines: { readonly hit: number; readonly total: number; readonly missed: readonly number[] };
  /** Each decision counts twice, once for each way out. */
  readonly branches: { readonly hit: number; readonly total: number; readonly missed: readonly number[] };
}

const keyOf = ({ file, start, length }: Place) => `${file}:${start}:${length}`;

/** The places of all instructions that were executed, each once. */
function executedPlaces(runs: readonly Run[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const { places: all, pcs } of runs) {
    for (const pc of pcs) {
      const place = all.get(pc);
      if (place !== undefined) places.set(keyOf(place), place);
    }
  }
  return [...places.values()];
}

/** How many ways out of a decision were taken, in whichever contract it is part of. */
function countWays(runs: readonly Run[], branch: Branch): number {
  const key = keyOf(branch);
  let ways = 0;
  for (const { places, jumps, outcomes } of runs) {
    const own = jumps.filter((pc) => {
      const place = places.get(pc);
      return place !== undefined && keyOf(place) === key;
    });
    own.forEach((pc, index) => {
      if (index % branch.count === branch.index) ways |= outcomes.get(pc) ?? 0;
    });
  }
  return (ways & 1) + (ways >> 1);
}

/**
 * Says what was executed of one source. A line counts if a statement begins there, and is hit if all that begin there were executed.
 *
 * @param source - path, text, and what can be executed
 * @param runs - all codes that the source may be part of
 */
export function countCoverage(
  { file, text, items }: { readonly file: string; readonly text: Buffer; readonly items: Items },
  runs: readonly Run[],
): FileCoverage {
  const lineOf = ({ start }: Place) => text.subarray(0, start).toString().split('\n').length;
  const executed = executedPlaces(runs).filter((place) => place.file === file);
  const lines = new Map<number, boolean>();
  for (const statement of items.statements) {
    const { start: from, length: size, whole } = statement;
    const isHit = executed.some(
      (place) => (place.start >= from && place.start + place.length <= from + size) || keyOf(place) === keyOf(whole),
    );
    const line = lineOf(statement);
    lines.set(line, (lines.get(line) ?? true) && isHit);
  }
  const missedLines = [...lines].filter(([, isHit]) => !isHit).map(([line]) => line);
  const ways = items.branches.map((branch) => ({ line: lineOf(branch), taken: countWays(runs, branch) }));
  const total = 2 * ways.length;
  return {
    file,
    lines: { hit: lines.size - missedLines.length, total: lines.size, missed: missedLines },
    branches: {
      hit: ways.reduce((sum, { taken }) => sum + taken, 0),
      total,
      missed: ways.filter(({ taken }) => taken < 2).map(({ line }) => line),
    },
  };
}
