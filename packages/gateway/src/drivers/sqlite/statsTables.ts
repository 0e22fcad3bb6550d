import type { RequestStatus } from '@prism-gateway/protocol';
import { MAX_COUNTED_CHAINS } from '../../ports/adminStore.ts';
import { type QuotedTables, quoteName } from './tables.ts';

/** Name of the tables' version among those of the stores. */
export const statsStoreName = (requests: string) => `${requests}.stats`;

/** Names of the tables that hold what is counted. */
export function quoteStatsTables({ requests }: { readonly requests: string }) {
  // Given quoted: the names go inside.
  const name = requests.slice(1, -1).replaceAll('""', '"');
  return {
    chains: quoteName(`${name}.chains`),
    activity: quoteName(`${name}.activity`),
    relayers: quoteName(`${name}.relayers`),
  };
}

/** Makes the tables anew, and counts what is there already. */
export function createStatsTables(tables: QuotedTables): string {
  const { chains, activity, relayers } = quoteStatsTables(tables);
  const count = (status: RequestStatus) => `count(*) FILTER (WHERE status = '${status}')`;
  const counts = (['pending', 'processing', 'success', 'failed'] as const).map(count).join(', ');
  return `
    DROP TABLE IF EXISTS ${chains};
    DROP TABLE IF EXISTS ${activity};
    DROP TABLE IF EXISTS ${relayers};
    CREATE TABLE ${chains} (
      chain_name TEXT PRIMARY KEY, pending INTEGER NOT NULL, processing INTEGER NOT NULL,
      success INTEGER NOT NULL, failed INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ${activity} (
      period INTEGER NOT NULL, start INTEGER NOT NULL, posts INTEGER NOT NULL, claims INTEGER NOT NULL,
      success INTEGER NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (period, start)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ${relayers} (
      address TEXT PRIMARY KEY COLLATE NOCASE, open_claims INTEGER NOT NULL, success INTEGER NOT NULL,
      failed INTEGER NOT NULL, conflicts INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, durations TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO ${chains}
      SELECT chain_name, ${counts} FROM ${tables.requests} GROUP BY chain_name ORDER BY count(*) DESC LIMIT ${MAX_COUNTED_CHAINS};
    INSERT INTO ${chains}
      SELECT '', ${counts} FROM ${tables.requests} WHERE chain_name NOT IN (SELECT chain_name FROM ${chains});
    INSERT INTO ${relayers}
      SELECT claimed_by, ${count('processing')}, ${count('success')}, ${count('failed')}, 0, max(updated_at), '{}'
      FROM ${tables.requests} WHERE claimed_by IS NOT NULL GROUP BY claimed_by COLLATE NOCASE;
  `;
}
