import { HOUR_MS, KEPT_HOURS, KEPT_MINUTES, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
import type { Tally } from '../sql/createTally.ts';
import type { Query } from './connect.ts';
import type { Tables } from './schema.ts';

const STATUSES = ['pending', 'processing', 'success', 'failed'] as const;

async function saveChains(query: Query, { chains: table }: Tables, chains: Tally['chains']): Promise<void> {
  if (chains.size === 0) return;
  const sums = STATUSES.map((status, i) => `${status} = c.${status} + d.v${i}`).join(', ');
  const update = `UPDATE ${table} c SET ${sums}
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS d(name, v0, v1, v2, v3)
    WHERE c.chain_name = d.name RETURNING c.chain_name`;
  const save = async (names: readonly string[], rows: readonly (readonly number[])[]) =>
    await query(update, [names, ...STATUSES.map((_, i) => rows.map((row) => row[i]))]);
  const all = [...chains].map(([name, counts]) => [name, STATUSES.map((status) => counts[status])] as const);
  const known = new Set(
    (
      await save(
        all.map(([name]) => name),
        all.map(([, row]) => row),
      )
    ).map((row) => row.chain_name),
  );
  for (const [name, row] of all) {
    if (known.has(name)) continue;
    const insert = `INSERT INTO ${table} SELECT $1, 0, 0, 0, 0 WHERE (SELECT count(*) FROM ${table}) <= ${MAX_COUNTED_CHAINS} RETURNING 1`;
    const isAlone = (await query(insert, [name])).length > 0;
    // One that is not counted apart is counted among all the others.
    await save([isAlone ? name : ''], [row]);
  }
}

async function saveActivity(query: Query, { activity }: Tables, minutes: Tally['minutes']): Promise<void> {
  for (const [minute, { posts, claims, success, failed }] of minutes) {
    if (posts + claims + success + failed === 0) continue;
    const at = minute * MINUTE_MS;
    await query(
      `INSERT INTO ${activity} AS a VALUES (${MINUTE_MS}, $1, $3, $4, $5, $6), (${HOUR_MS}, $2, $3, $4, $5, $6)
       ON CONFLICT (period, start) DO UPDATE SET posts = a.posts + excluded.posts, claims = a.claims + excluded.claims,
         success = a.success + excluded.success, failed = a.failed + excluded.failed`,
      [at, at - (at % HOUR_MS), posts, claims, success, failed],
    );
  }
}

async function saveRelayers(query: Query, { relayerStats }: Tables, relayers: Tally['relayers']): Promise<void> {
  if (relayers.size === 0) return;
  const all = [...relayers];
  const columns = ['open', 'success', 'failed', 'conflicts', 'seenAt'] as const;
  const rows = await query(
    `INSERT INTO ${relayerStats} AS r SELECT k, a, o, s, f, c, t, '{}'
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
       AS d(k, a, o, s, f, c, t)
     ON CONFLICT (key) DO UPDATE SET open_claims = r.open_claims + excluded.open_claims,
       success = r.success + excluded.success, failed = r.failed + excluded.failed,
       conflicts = r.conflicts + excluded.conflicts, last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)
     RETURNING key, durations`,
    [
      all.map(([key]) => key),
      all.map(([, { address }]) => address),
      ...columns.map((name) => all.map(([, totals]) => totals[name])),
    ],
  );
  for (const { key, durations: text } of rows) {
    const durations = relayers.get(String(key))?.durations ?? [];
    if (durations.length === 0) continue;
    const histogram = new Map<string, number>(Object.entries(JSON.parse(String(text))));
    for (const bucket of durations) histogram.set(String(bucket), (histogram.get(String(bucket)) ?? 0) + 1);
    const saved = JSON.stringify(Object.fromEntries(histogram));
    await query(`UPDATE ${relayerStats} SET durations = $1 WHERE key = $2`, [saved, key]);
  }
}

/** Writes what a transaction has moved, in as few statements as there are chains, minutes and relayers in it. */
export async function saveTally(query: Query, tables: Tables, { chains, minutes, relayers }: Tally): Promise<void> {
  await saveChains(query, tables, chains);
  await saveActivity(query, tables, minutes);
  await saveRelayers(query, tables, relayers);
}

/** Forgets minutes and hours that nobody is told any more. */
export async function sweepActivity(query: Query, { activity }: Tables, now: number): Promise<void> {
  await query(
    `DELETE FROM ${activity} WHERE (period = ${MINUTE_MS} AND start < $1) OR (period = ${HOUR_MS} AND start < $2)`,
    [now - KEPT_MINUTES * MINUTE_MS, now - KEPT_HOURS * HOUR_MS],
  );
}
