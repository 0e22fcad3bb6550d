/** One change to the code that some test must notice. */
export interface Mutant {
  /** The changed file, from the repository's root. */
  readonly file: string;
  /** What stands there, exactly once. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** Test files that must notice, from the root. */
  readonly tests: readonly string[];
  /** Why no test can notice: the change makes no difference that a caller could see. */
  readonly survives?: string;
}

/** What stands in a file, what shall stand there, and why nobody can notice, if so. */
export type Change = readonly [find: string, replace: string, survives?: string];
