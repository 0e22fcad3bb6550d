/** What a figure is held against. */
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
  /** Absent: told for comparison only. */
  readonly target?: Target;
  /** What helps to understand the figure; goes to the JSON and under the table. */
  readonly notes?: readonly string[];
}
