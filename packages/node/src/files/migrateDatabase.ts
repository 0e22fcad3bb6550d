import type { DatabaseSync } from 'node:sqlite';

/** How long a process waits for another one's migration, in milliseconds: a million records take some ten seconds. */
const MIGRATION_TIMEOUT_MS = 600_000;

/** The tables of one store. */
export interface Schema {
  /** Under which name the database keeps the version. */
  readonly store: string;
  /** SQL: each entry brings the tables from the version of its index to the next one. Entries are only ever added. */
  readonly steps: readonly string[];
}

/** The data were written by a later version of this program. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  readonly code = 'NEWER_SCHEMA';

  constructor(found: number, known: number) {
    super(`The store's schema is version ${found}, and this program knows ${known}: start a newer version.`);
  }
}

/** The table in which a database keeps the versions of its schemas: the same on SQLite and PostgreSQL. */
export const CREATE_VERSIONS =
  'CREATE TABLE IF NOT EXISTS schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL)';
export const SELECT_VERSIONS = 'SELECT store, version FROM schema_versions';

function readVersions(database: DatabaseSync): ReadonlyMap<unknown, number> {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").get();
  if (table === undefined) return new Map();
  const rows = database.prepare(SELECT_VERSIONS).all();
  return new Map(rows.map(({ store, version }) => [store, Number(version)]));
}

/** The steps that a store lacks. */
export interface MissingSteps {
  readonly store: string;
  /** The version that the steps bring it to. */
  readonly known: number;
  readonly steps: readonly string[];
}

/**
 * Plans a migration.
 *
 * @param versions - by store, as the database keeps them
 * @returns the schemas that are not up to date, with the steps that they lack
 * @throws NewerSchemaError
 */
export function planMigration(
  versions: ReadonlyMap<unknown, number>,
  schemas: readonly Schema[],
): readonly MissingSteps[] {
  return schemas.flatMap(({ store, steps }) => {
    const [found, known] = [versions.get(store) ?? 0, steps.length];
    if (found > known) throw new NewerSchemaError(found, known);
    return found === known ? [] : [{ store, known, steps: steps.slice(found) }];
  });
}

const findMissing = (database: DatabaseSync, schemas: readonly Schema[]) =>
  planMigration(readVersions(database), schemas);

/**
 * Sees that no later version of this program has written the data. It changes nothing.
 *
 * @throws NewerSchemaError
 */
export function assertKnownSchemas(database: DatabaseSync, schemas: readonly Schema[]): void {
  findMissing(database, schemas);
}

function runSteps(database: DatabaseSync, schemas: readonly Schema[]): void {
  database.exec(`${CREATE_VERSIONS} STRICT`);
  const setVersion = database.prepare(
    'INSERT INTO schema_versions VALUES (?, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
  );
  // Another process may have done some of it meanwhile.
  for (const { store, known, steps } of findMissing(database, schemas)) {
    for (const step of steps) database.exec(step);
    setVersion.run(store, known);
  }
}

/**
 * Makes the tables, or brings them up to date, in one transaction. If several processes start at once, one does it. If there is nothing to
 * do, nothing is written, so that a full disk does not keep anybody from reading.
 *
 * @throws NewerSchemaError
 * @see docs/specification.md STORE-6, STORE-8
 */
export function migrateDatabase(database: DatabaseSync, schemas: readonly Schema[]): void {
  if (findMissing(database, schemas).length === 0) return;
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() ?? {};
  database.exec(`PRAGMA busy_timeout = ${MIGRATION_TIMEOUT_MS}; BEGIN IMMEDIATE`);
  try {
    runSteps(database, schemas);
    database.exec('COMMIT');
  } catch (error) {
    // A full disk ends the transaction by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${Number(timeout)}`);
  }
}
