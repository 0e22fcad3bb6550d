/** One change to the code that some test must notice. */
export interface Mutant {
  /** The changed file, from the repository's root. */
  readonly file: string;
  /** The text there, exactly once. */
  readonly find: string;
  /** The text instead. */
  readonly replace: string;
  /** Test files that must notice, from the root. */
  readonly tests: readonly string[];
  /** Why no test can notice: the change makes no difference that a caller could see. */
  readonly survives?: string;
}

/** The text in a file, its replacement, and why nobody can notice, if so. */
export type Change = readonly [find: string, replace: string, survives?: string];
