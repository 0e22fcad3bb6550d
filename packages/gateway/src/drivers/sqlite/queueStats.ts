/** What the stats know is counted on the writer's connection, in the transaction of the write that it counts. */
import type { DatabaseSync } from 'node:sqlite';
import type { RequestStatus } from '@prism-gateway/protocol';
import { bucketOf, HOUR_MS, KEPT_HOURS, KEPT_MINUTES, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
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

/** One change of a row, as the trigger tells it. Times are milliseconds since the epoch. */
interface Move {
  readonly chainName: string;
  readonly from: RequestStatus | null;
  readonly to: RequestStatus | null;
  readonly oldOwner: string | null;
  readonly newOwner: string | null;
  readonly claimedAt: number | null;
  readonly at: number;
}

type Counts = { pending: number; processing: number; success: number; failed: number };
type Acts = { posts: number; claims: number; success: number; failed: number };
type Record = { open: number; success: number; failed: number; conflicts: number; seenAt: number; durations: number[] };

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(key, fresh);
  return fresh;
}

/** Gathers what a transaction moves. */
function createTally() {
  const chains = new Map<string, Counts>();
  const minutes = new Map<number, Acts>();
  const relayers = new Map<string, Record>();
  const recordOf = (address: string) =>
    entryOf(relayers, address, () => ({ open: 0, success: 0, failed: 0, conflicts: 0, seenAt: 0, durations: [] }));

  function noteOwners({ from, to, oldOwner, newOwner, claimedAt, at }: Move): void {
    if (from === 'processing' && oldOwner !== null) {
      const old = recordOf(oldOwner);
      old.open--;
      if (to === 'success' || to === 'failed') {
        old[to]++;
        old.durations.push(bucketOf(at - (claimedAt ?? at)));
        old.seenAt = Math.max(old.seenAt, at);
      }
    }
    if (to !== 'processing' || newOwner === null) return;
    const owner = recordOf(newOwner);
    owner.open++;
    owner.seenAt = Math.max(owner.seenAt, at);
  }

  return {
    chains,
    minutes,
    relayers,
    note(move: Move): void {
      const { chainName, from, to, at } = move;
      const counts = entryOf(chains, chainName, () => ({ pending: 0, processing: 0, success: 0, failed: 0 }));
      if (from !== null) counts[from]--;
      if (to !== null) counts[to]++;
      const acts = entryOf(minutes, Math.floor(at / MINUTE_MS), () => ({ posts: 0, claims: 0, success: 0, failed: 0 }));
      if (from === null) acts.posts++;
      else if (to === 'processing') acts.claims++;
      else if (to === 'success' || to === 'failed') acts[to]++;
      noteOwners(move);
    },
    noteConflict(relayer: string): void {
      recordOf(relayer).conflicts++;
    },
    clear(): void {
      for (const map of [chains, minutes, relayers]) map.clear();
    },
  };
}

/** Has every change of a request's row told to the tally, whoever makes it on this connection. */
function watchRows(database: DatabaseSync, tables: QuotedTables, note: (move: Move) => void): void {
  database.function('note_move', (chainName, from, to, oldOwner, newOwner, claimedAt, at) => {
    // The triggers below give the columns in these types.
    note({ chainName, from, to, oldOwner, newOwner, claimedAt, at } as unknown as Move);
    return null;
  });
  const name = tables.requests;
  // Temporary: they are this connection's own, and nothing of them is in the file.
  database.exec(`
    CREATE TEMP TRIGGER stats_insert AFTER INSERT ON main.${name} BEGIN
      SELECT note_move(new.chain_name, NULL, new.status, NULL, NULL, NULL, new.created_at);
    END;
    CREATE TEMP TRIGGER stats_update AFTER UPDATE OF status, claimed_by ON main.${name}
    WHEN old.status <> new.status OR old.claimed_by <> new.claimed_by BEGIN
      SELECT note_move(new.chain_name, old.status, new.status, old.claimed_by, new.claimed_by, old.claimed_at, new.updated_at);
    END;
    CREATE TEMP TRIGGER stats_delete AFTER DELETE ON main.${name} BEGIN
      SELECT note_move(old.chain_name, old.status, NULL, old.claimed_by, NULL, NULL, old.updated_at);
    END;
  `);
}

type Tally = ReturnType<typeof createTally>;

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
  const select = database.prepare(`SELECT durations FROM ${relayers} WHERE address = ?`);
  const upsert = database.prepare(`
    INSERT INTO ${relayers} VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      open_claims = open_claims + excluded.open_claims, success = success + excluded.success,
      failed = failed + excluded.failed, conflicts = conflicts + excluded.conflicts,
      last_seen_at = max(last_seen_at, excluded.last_seen_at), durations = excluded.durations`);
  return function save(deltas: Tally['relayers']): void {
    for (const [address, { open, success, failed, conflicts, seenAt, durations }] of deltas) {
      const before: { [bucket: string]: number } = JSON.parse(String(select.get(address)?.durations ?? '{}'));
      for (const bucket of durations) before[bucket] = (before[bucket] ?? 0) + 1;
      upsert.run(address, open, success, failed, conflicts, seenAt, JSON.stringify(before));
    }
  };
}

/** The writer's stats: what they count is saved before a commit, or forgotten when it fails. */
export interface QueueTally {
  /** @param relayer - who lost a claim, which changes no row */
  noteConflict(relayer: string): void;
  save(): void;
  forget(): void;
}

/**
 * Counts what is done to requests on a connection.
 *
 * @param database - the writer's connection
 */
export function prepareTally(database: DatabaseSync, tables: QuotedTables): QueueTally {
  const names = quoteStatsTables(tables);
  const tally = createTally();
  watchRows(database, tables, tally.note);
  const saveChains = prepareChains(database, names.chains);
  const saveActivity = prepareActivity(database, names.activity);
  const saveRelayers = prepareRelayers(database, names.relayers);
  return {
    noteConflict: tally.noteConflict,
    save() {
      saveChains(tally.chains);
      saveActivity(tally.minutes);
      saveRelayers(tally.relayers);
      tally.clear();
    },
    forget: tally.clear,
  };
}
