import { expect, onTestFinished, test } from 'vitest';
import { pendingRequest } from '../../../test/contracts/storedRequests.ts';
import { createPostgresRig } from '../../../test/rigs/postgresStores.ts';

async function createDatabase(options: string) {
  const rig = await createPostgresRig(options);
  onTestFinished(rig.close);
  return rig;
}

test('a database whose encoding lacks characters is refused, with the way to make another', async () => {
  const { open } = await createDatabase("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  await expect(open()).rejects.toThrow(/encoding LATIN1, .* CREATE DATABASE prism ENCODING 'UTF8'/);
});

test.each(['UTF8', 'SQL_ASCII'])('a database in %s holds every character', async (encoding) => {
  const { open } = await createDatabase(`ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
  const { requests } = await open();
  const request = pendingRequest({ chainName: 'chaîne ☃ 🙂' });
  await requests.create(request);
  expect((await requests.get(request.requestId))?.chainName).toBe('chaîne ☃ 🙂');
});

test('no index depends on how the system sorts a language', async () => {
  const { open, query } = await createDatabase("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C' TEMPLATE template0");
  await open();
  const indexed = await query(
    `SELECT DISTINCT a.attrelid::regclass AS index, a.attname AS key, c.collname AS collation
     FROM pg_attribute a JOIN pg_index i ON i.indexrelid = a.attrelid JOIN pg_class t ON t.oid = i.indrelid
       JOIN pg_collation c ON c.oid = a.attcollation
     WHERE t.relnamespace = 'public'::regnamespace AND t.relname <> 'schema_versions'`,
  );
  expect(indexed.length).toBeGreaterThan(10);
  expect(indexed.filter(({ collation }) => collation !== 'C')).toEqual([]);
});
