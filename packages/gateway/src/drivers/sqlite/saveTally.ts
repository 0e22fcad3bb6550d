import type { DatabaseSync } from 'node:sqlite';
import { HOUR_MS, KEPT_HOURS, KEPT_MINUTES, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
import type { Tally } from './createTally.ts';
import { quoteStatsTables } from './statsTables.ts';
import type { QuotedTables } from './tables.ts';

function prepareChains(database: DatabaseSync, chains: string) {
  const fields = 'pending = pending + ?, processing = processing + ?, success = success + ?, failed = failed + ?';
  const update = database.prepare(`UPDATE ${chains} SET ${fields} WHERE chain_name = ?`);
  const insert = database.prepare(
    `INSERT INTO ${chains} SELECT ?, 0, 0, 0, 0 WHERE (SELECT count(*) FROM ${chains}) <= ${MAX_COUNTED_CHAINS}`,
  );
  return function save(deltas: Tally['chains']): void {
    for (const [name, { pending, processing, success, failed }] of deltas) {
      const values = [pending, processing, success, failed];
      if (update.run(...values, name).changes > 0) continue;
      insert.run(name);
      // One that is not counted apart is counted among all the others.
      if (update.run(...values, name).changes === 0) update.run(...values, '');
    }
  };
}

function prepareActivity(database: DatabaseSync, activity: string) {
  const upsert = database.prepare(`
    INSERT INTO ${activity} VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET posts = posts + excluded.posts,
      claims = claims + excluded.claims, success = success + excluded.success, failed = failed + excluded.failed`);
  const sweep = database.prepare(`DELETE FROM ${activity} WHERE period = ? AND start < ?`);
  let sweptAt = 0;
  return function save(minutes: Tally['minutes']): void {
    for (const [minute, { posts, claims, success, failed }] of minutes) {
      if (posts + claims + success + failed === 0) continue;
      const at = minute * MINUTE_MS;
      upsert.run(MINUTE_MS, at, posts, claims, success, failed);
      upsert.run(HOUR_MS, at - (at % HOUR_MS), posts, claims, success, failed);
      if (minute <= sweptAt) continue;
      sweptAt = minute;
      sweep.run(MINUTE_MS, at - KEPT_MINUTES * MINUTE_MS);
      sweep.run(HOUR_MS, at - KEPT_HOURS * HOUR_MS);
    }
  };
}

function prepareRelayers(database: DatabaseSync, relayers: string) {
  const upsert = database.prepare(`
    INSERT INTO ${relayers} VALUES (?, ?, ?, ?, ?, ?, '{}') ON CONFLICT DO UPDATE SET
      open_claims = open_claims + excluded.open_claims, success = success + excluded.success,
      failed = failed + excluded.failed, conflicts = conflicts + excluded.conflicts,
      last_seen_at = max(last_seen_at, excluded.last_seen_at)
    RETURNING durations`);
  const keepDurations = database.prepare(`UPDATE ${relayers} SET durations = ? WHERE address = ?`);
  return function save(deltas: Tally['relayers']): void {
    for (const { address, open, success, failed, conflicts, seenAt, durations } of deltas.values()) {
      const row = upsert.get(address, open, success, failed, conflicts, seenAt);
      if (durations.length === 0) continue;
      const histogram: { [bucket: string]: number } = JSON.parse(String(row?.durations));
      for (const bucket of durations) histogram[bucket] = (histogram[bucket] ?? 0) + 1;
      keepDurations.run(JSON.stringify(histogram), address);
    }
  };
}

/**
 * Prepares the writing of what a transaction has moved, in as few statements as there are chains, minutes and relayers in it.
 *
 * @param database - the writer's connection
 * @returns the function; to be called before the commit
 */
export function prepareSaveTally(database: DatabaseSync, tables: QuotedTables): (tally: Tally) => void {
  const names = quoteStatsTables(tables);
  const saveChains = prepareChains(database, names.chains);
  const saveActivity = prepareActivity(database, names.activity);
  const saveRelayers = prepareRelayers(database, names.relayers);
  return function saveTally({ chains, minutes, relayers }) {
    saveChains(chains);
    saveActivity(minutes);
    saveRelayers(relayers);
  };
}
