import { median } from './median.ts';

/** The figure to reach. */
export interface Target {
  /** `ratio`: measure over baseline. `value`: the measure itself. */
  readonly of: 'ratio' | 'value';
  readonly is: 'at least' | 'at most';
  readonly bound: number;
}

/** One line of the table: a figure of each run, and of its baseline in the same run. */
export interface ResultRow {
  readonly title: string;
  readonly unit: string;
  /** One figure a run. */
  readonly values: readonly number[];
  readonly baseline?: { readonly title: string; readonly values: readonly number[] };
  /** Absent: reported for comparison only. */
  readonly target?: Target;
  /** Remarks on the figure; they go to the JSON and under the table. */
  readonly notes?: readonly string[];
}

/** A row with its figures drawn together. */
export interface RowSummary extends ResultRow {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly baselineMedian?: number;
  /** Median of the ratios of each run to the baseline of the same round. */
  readonly ratio?: number;
  /** Absent without a target. */
  readonly met?: boolean;
}

/**
 * Draws the figures of a row together and holds them against its target.
 *
 * @param row figures of each run
 * @returns the row with its medians, ratio and verdict
 */
export function summariseRow(row: ResultRow): RowSummary {
  const middle = median(row.values);
  const summary = { ...row, median: middle, min: Math.min(...row.values), max: Math.max(...row.values) };
  // Measure and baseline have one figure a round.
  const ratios = row.baseline?.values.map((baseline, round) => row.values[round]! / baseline);
  const ratio = ratios === undefined ? undefined : median(ratios);
  return {
    ...summary,
    ...(row.baseline === undefined ? {} : { baselineMedian: median(row.baseline.values) }),
    ...(ratio === undefined ? {} : { ratio }),
    ...(row.target === undefined ? {} : { met: isMet(row.target, row.target.of === 'ratio' ? ratio : middle) }),
  };
}

function isMet(target: Target, figure: number | undefined): boolean {
  if (figure === undefined) return false;
  return target.is === 'at least' ? figure >= target.bound : figure <= target.bound;
}
