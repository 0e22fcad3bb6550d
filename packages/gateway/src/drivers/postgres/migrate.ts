import { CREATE_VERSIONS, planMigration, type Schema, SELECT_VERSIONS } from '@prism-gateway/node';
import type pg from 'pg';

/** How long a process waits for another one's migration, in milliseconds. */
const MIGRATION_TIMEOUT_MS = 600_000;
/** Whoever migrates holds it: any number that nobody else uses. */
const LOCK = 0x70_72_69_73;

/** Reads the versions of the schemas, by store. */
export async function readVersions(client: pg.Client): Promise<ReadonlyMap<unknown, number>> {
  const { rows } = await client.query("SELECT to_regclass('schema_versions') AS found");
  if (rows[0]?.found === null) return new Map();
  const versions = await client.query(SELECT_VERSIONS);
  return new Map(versions.rows.map(({ store, version }) => [store, Number(version)]));
}

async function runSteps(client: pg.Client, schemas: readonly Schema[]): Promise<void> {
  await client.query(CREATE_VERSIONS);
  // Another process may have done some of it meanwhile.
  for (const { store, known, steps } of planMigration(await readVersions(client), schemas)) {
    for (const text of steps) await client.query({ text, query_timeout: MIGRATION_TIMEOUT_MS } as pg.QueryConfig);
    await client.query(
      'INSERT INTO schema_versions VALUES ($1, $2) ON CONFLICT (store) DO UPDATE SET version = excluded.version',
      [store, known],
    );
  }
}

/**
 * Makes the tables, or brings them up to date, in one transaction under an advisory lock: of several gateways that start at once one
 * does it. If there is nothing to do, nothing is written, so that the gateway's role needs no right to make tables.
 *
 * @throws NewerSchemaError
 * @see docs/specification.md STORE-6, STORE-8
 */
export async function migratePostgres(client: pg.Client, schemas: readonly Schema[]): Promise<void> {
  if (planMigration(await readVersions(client), schemas).length === 0) return;
  const timeouts = ['lock_timeout', 'statement_timeout'].map((name) => `SET LOCAL ${name} = ${MIGRATION_TIMEOUT_MS}`);
  const begin = `BEGIN; ${timeouts.join('; ')}; SELECT pg_advisory_xact_lock(${LOCK})`;
  await client.query({ text: begin, query_timeout: MIGRATION_TIMEOUT_MS } as pg.QueryConfig);
  try {
    await runSteps(client, schemas);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
