import { HOUR_MS, KEPT_HOURS, KEPT_MINUTES, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
import type { CounterChanges } from '../sql/createCounterChanges.ts';
import type { Query } from './connect.ts';
import type { Tables } from './schema.ts';

const STATUSES = ['pending', 'processing', 'success', 'failed'] as const;
const ACTS = ['posts', 'claims', 'success', 'failed'] as const;

async function saveChains(query: Query, { chains: table }: Tables, chains: CounterChanges['chains']): Promise<void> {
  if (chains.size === 0) return;
  const all = [...chains];
  // One that there is no room for is counted among all the others.
  await query(
    `INSERT INTO ${table} AS c SELECT name, ${STATUSES.map((_, i) => `sum(v${i})`).join(', ')} FROM (
       SELECT CASE WHEN is_known OR (SELECT count(*) FROM ${table}) + row_number() OVER (PARTITION BY is_known)
           <= ${MAX_COUNTED_CHAINS + 1} THEN name ELSE '' END, v0, v1, v2, v3
       FROM (SELECT *, EXISTS (SELECT 1 FROM ${table} WHERE chain_name = name) AS is_known
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS u(name, v0, v1, v2, v3)) AS w
     ) AS d(name, v0, v1, v2, v3) GROUP BY name
     ON CONFLICT (chain_name) DO UPDATE SET ${STATUSES.map((status) => `${status} = c.${status} + excluded.${status}`).join(', ')}`,
    [all.map(([name]) => name), ...STATUSES.map((status) => all.map(([, counts]) => counts[status]))],
  );
}

async function saveActivity(query: Query, { activity }: Tables, minutes: CounterChanges['minutes']): Promise<void> {
  const all = [...minutes].filter(([, acts]) => ACTS.some((act) => acts[act] > 0));
  if (all.length === 0) return;
  const starts = all.map(([minute]) => minute * MINUTE_MS);
  await query(
    `INSERT INTO ${activity} AS a SELECT period, start, ${ACTS.map((act) => `sum(${act})`).join(', ')}
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS u(at, ${ACTS.join(', ')}),
       LATERAL (VALUES (${MINUTE_MS}, at), (${HOUR_MS}, at - at % ${HOUR_MS})) AS p(period, start)
     GROUP BY period, start
     ON CONFLICT (period, start) DO UPDATE SET ${ACTS.map((act) => `${act} = a.${act} + excluded.${act}`).join(', ')}`,
    [starts, ...ACTS.map((act) => all.map(([, acts]) => acts[act]))],
  );
}

/** Adds what was counted to a histogram. @param known - JSON, as the table has it */
function addDurations(known: string, buckets: readonly number[]): string {
  const histogram: { [bucket: string]: number } = JSON.parse(known);
  for (const bucket of buckets) histogram[bucket] = (histogram[bucket] ?? 0) + 1;
  return JSON.stringify(histogram);
}

async function saveRelayers(
  query: Query,
  { relayerStats }: Tables,
  { relayers, durationsOf }: CountersToSave,
): Promise<void> {
  if (relayers.size === 0) return;
  const all = [...relayers];
  const columns = ['open', 'success', 'failed', 'conflicts', 'seenAt'] as const;
  await query(
    `INSERT INTO ${relayerStats} AS r SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
       $7::bigint[], $8::text[])
     ON CONFLICT (key) DO UPDATE SET open_claims = r.open_claims + excluded.open_claims,
       success = r.success + excluded.success, failed = r.failed + excluded.failed,
       conflicts = r.conflicts + excluded.conflicts, last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at),
       durations = CASE excluded.durations WHEN '{}' THEN r.durations ELSE excluded.durations END`,
    [
      all.map(([key]) => key),
      all.map(([, { address }]) => address),
      ...columns.map((name) => all.map(([, totals]) => totals[name])),
      all.map(([key, { durations }]) => (durations.length === 0 ? '{}' : addDurations(durationsOf(key), durations))),
    ],
  );
}

async function savePending(
  query: Query,
  { pending: table }: Tables,
  pending: CounterChanges['pending'],
): Promise<void> {
  const changed = [...pending].filter(([, bytes]) => bytes !== 0);
  if (changed.length === 0) return;
  const holders = changed.map(([holder]) => holder);
  await Promise.all([
    query(
      `INSERT INTO ${table} AS p SELECT * FROM unnest($1::text[], $2::bigint[])
       ON CONFLICT (holder) DO UPDATE SET bytes = p.bytes + excluded.bytes`,
      [holders, changed.map(([, bytes]) => bytes)],
    ),
    query(`DELETE FROM ${table} WHERE bytes <= 0 AND holder = ANY($1)`, [holders]),
  ]);
}

/** The counters of a transaction. */
interface CountersToSave extends Pick<CounterChanges, 'chains' | 'minutes' | 'relayers' | 'pending'> {
  /** Histogram of a relayer before the transaction, as JSON. */
  readonly durationsOf: (key: string) => string;
}

/** Sends what a transaction has moved, each kind of counter by a statement of its own. */
export const saveCounters = (query: Query, tables: Tables, changes: CountersToSave): Promise<void>[] => [
  saveChains(query, tables, changes.chains),
  saveActivity(query, tables, changes.minutes),
  saveRelayers(query, tables, changes),
  savePending(query, tables, changes.pending),
];

/** Forgets minutes and hours that stats show no more. */
export async function sweepActivity(query: Query, { activity }: Tables, now: number): Promise<void> {
  await query(
    `DELETE FROM ${activity} WHERE (period = ${MINUTE_MS} AND start < $1) OR (period = ${HOUR_MS} AND start < $2)`,
    [now - KEPT_MINUTES * MINUTE_MS, now - KEPT_HOURS * HOUR_MS],
  );
}
