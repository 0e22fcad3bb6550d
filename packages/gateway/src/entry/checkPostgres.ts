import { NewerSchemaError, planMigration } from '@prism-gateway/node';
import { hostOf, openPostgres } from '../drivers/postgres/connect.ts';
import { readVersions } from '../drivers/postgres/migrate.ts';
import { schemasOf } from '../drivers/postgres/schema.ts';
import type { ServiceFinding } from './checkServices.ts';
import type { Settings } from './settings.ts';

/** Settings of the server without which an acknowledged write can be lost. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' } as const;

/** Asks PostgreSQL whether it takes writes, keeps them, and has this version's tables. It changes nothing. */
export async function checkPostgres({ DATABASE_URL: url, tables }: Settings): Promise<ServiceFinding> {
  if (url === undefined)
    return { ok: true, found: 'the embedded PostgreSQL, which only the gateway starts', advice: '' };
  const place = `PostgreSQL at ${hostOf(url)}`;
  const database = openPostgres({ url, poolSize: 1 });
  try {
    const client = await database.connect();
    try {
      const missing = planMigration(await readVersions(client), schemasOf(tables));
      const { rows } = await client.query('SELECT name, setting FROM pg_settings WHERE name = ANY($1)', [
        Object.keys(DURABLE),
      ]);
      const lax = rows.filter(({ setting }) => setting === 'off').map(({ name }) => `${name} is off`);
      if (lax.length > 0) {
        const advice = 'Turn it on in postgresql.conf: without it a power cut loses what was acknowledged.';
        return { ok: false, found: `${place}: ${lax.join(', ')}`, advice };
      }
      const state = missing.length === 0 ? 'with its tables' : 'the next start makes its tables';
      return { ok: true, found: `${place} takes writes; ${state}`, advice: '' };
    } finally {
      await client.end();
    }
  } catch (error) {
    const found = `${place}: ${error instanceof Error ? error.message : String(error)}`;
    if (error instanceof NewerSchemaError)
      return { ok: false, found, advice: 'Start the version that has written it.' };
    return { ok: false, found, advice: 'Check DATABASE_URL, the password, the network, and that the server runs.' };
  } finally {
    await database.close();
  }
}
