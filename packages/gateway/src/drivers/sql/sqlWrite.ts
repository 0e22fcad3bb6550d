/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

export type SqlValue = string | number | null;

/** A statement in the SQL that SQLite and PostgreSQL share; its parameters are `?1`, `?2`, … */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/**
 * A write as the statements that it runs one after the other, each once it has seen the rows of the one before: the rules stand here once,
 * and each driver runs them in a transaction of its own, at once or awaiting answers.
 */
export type SqlWrite<T> = Generator<Statement, T, readonly Row[]>;

/** Runs one statement of a write. @returns its rows */
export function* run(sql: string, ...values: readonly SqlValue[]): SqlWrite<readonly Row[]> {
  return yield { sql, values };
}

/** Runs one statement of a write. @returns its first row */
export function* runOne(sql: string, ...values: readonly SqlValue[]): SqlWrite<Row | undefined> {
  return (yield { sql, values })[0];
}
