import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HOUR_MS, KEPT_HOURS, KEPT_MINUTES, MAX_COUNTED_CHAINS, MINUTE_MS } from '../../ports/adminStore.ts';
import {
  type CommittedMoves,
  type CounterChanges,
  createCounterChanges,
  type Move,
} from '../sql/createCounterChanges.ts';
import { enterAt, NUMBERS, numbersOf } from '../sql/feed.ts';
import type { QuotedTables } from './tables.ts';

function prepareChains(database: DatabaseSync, chains: string) {
  const fields = 'pending = pending + ?, processing = processing + ?, success = success + ?, failed = failed + ?';
  const update = database.prepare(`UPDATE ${chains} SET ${fields} WHERE chain_name = ?`);
  const insert = database.prepare(
    `INSERT INTO ${chains} SELECT ?, 0, 0, 0, 0 WHERE (SELECT count(*) FROM ${chains}) <= ${MAX_COUNTED_CHAINS}`,
  );
  return function save(deltas: CounterChanges['chains']): void {
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
  return function save(minutes: CounterChanges['minutes']): void {
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
    INSERT INTO ${relayers} VALUES (?, ?, ?, ?, ?, ?, ?, '{}') ON CONFLICT DO UPDATE SET
      open_claims = open_claims + excluded.open_claims, success = success + excluded.success,
      failed = failed + excluded.failed, conflicts = conflicts + excluded.conflicts,
      last_seen_at = max(last_seen_at, excluded.last_seen_at)
    RETURNING durations`);
  const keepDurations = database.prepare(`UPDATE ${relayers} SET durations = ? WHERE key = ?`);
  return function save(deltas: CounterChanges['relayers']): void {
    for (const [key, { address, open, success, failed, conflicts, seenAt, durations }] of deltas) {
      const row = upsert.get(key, address, open, success, failed, conflicts, seenAt);
      if (durations.length === 0) continue;
      const histogram: { [bucket: string]: number } = JSON.parse(String(row?.durations));
      for (const bucket of durations) histogram[bucket] = (histogram[bucket] ?? 0) + 1;
      keepDurations.run(JSON.stringify(histogram), key);
    }
  };
}

function preparePending(database: DatabaseSync, pending: string) {
  const upsert = database.prepare(
    `INSERT INTO ${pending} VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes RETURNING bytes`,
  );
  const remove = database.prepare(`DELETE FROM ${pending} WHERE holder = ?`);
  return function save(deltas: CounterChanges['pending']): void {
    for (const [holder, bytes] of deltas) {
      if (bytes !== 0 && Number(upsert.get(holder, bytes)?.bytes) <= 0) remove.run(holder);
    }
  };
}

/** Prepares the writing of what a transaction has moved, in as few statements as there are chains, minutes and relayers in it. */
function prepareSaveCounters(database: DatabaseSync, tables: QuotedTables): (changes: CounterChanges) => void {
  const saveChains = prepareChains(database, tables.chains);
  const saveActivity = prepareActivity(database, tables.activity);
  const saveRelayers = prepareRelayers(database, tables.relayerStats);
  const savePending = preparePending(database, tables.pending);
  return function saveCounters({ chains, minutes, relayers, pending }) {
    saveChains(chains);
    saveActivity(minutes);
    saveRelayers(relayers);
    savePending(pending);
  };
}

/** All that is counted of the records, in the transactions in which they change. */
export interface Counters {
  /** The number of the next move: they rise in the order of the commits, over all processes, and none is given twice. */
  nextMove(): number;
  /** Counts a change of a record, whoever makes it. @throws Error for a move that the table of moves has not */
  moved(move: Move): void;
  /** Counts a claim that was lost to a rival. */
  lost(relayer: string): void;
  /** Notes when a relayer has called. */
  seen(relayer: string, at: number): void;
  /** How many requests a relayer holds. */
  heldBy(relayer: string): number;
  /** Writes them; to be called before the commit. @returns the transaction's moves, if there are any */
  save(): CommittedMoves | undefined;
  /** Drops what a transaction that failed has counted. */
  forget(): void;
}

const [SEQUENCE, LEFT, ENTERED] = NUMBERS;

/** Numbers the moves of a transaction. */
function prepareSequence(database: DatabaseSync, { counters }: QuotedTables, now: () => number) {
  const select = database.prepare(`SELECT name, value FROM ${counters}`);
  const upsert = database.prepare(
    `INSERT INTO ${counters} VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  /** Number from which this process began. */
  let begun: number | undefined;
  /** The transaction's moves are those after `from`; earlier ones end with `before`. */
  let open: { readonly before: number; readonly from: number; last: number } | undefined;

  function begin() {
    const { sequence: before, entered } = numbersOf(select.all());
    // It may have failed to commit that.
    const isBegun = begun !== undefined && entered >= begun;
    if (!isBegun) begun = enterAt(before, now());
    const from = isBegun ? before : (begun ?? before);
    return { before, from, last: from };
  }

  return {
    next(): number {
      open ??= begin();
      return ++open.last;
    },
    save(): CommittedMoves | undefined {
      if (open === undefined) return undefined;
      const { before, from, last } = open;
      open = undefined;
      if (from === begun) {
        upsert.run(LEFT, before);
        upsert.run(ENTERED, from);
      }
      upsert.run(SEQUENCE, last);
      return { after: before, last, count: last - from };
    },
    forget() {
      open = undefined;
    },
  };
}

/** Reads what relayers hold as of the beginning of the transaction. */
function prepareHeld(database: DatabaseSync, tables: QuotedTables) {
  const select = database.prepare(`SELECT open_claims FROM ${tables.relayerStats} WHERE key = lower(?)`);
  const known = new Map<string, number>();
  return {
    of(relayer: string): number {
      const value = known.get(relayer) ?? Number(select.get(relayer)?.open_claims ?? 0);
      known.set(relayer, value);
      return value;
    },
    forget: () => known.clear(),
  };
}

/** Prepares the counters on one connection: gathered in memory, and written once a commit. */
export function prepareCounters(database: DatabaseSync, tables: QuotedTables, now: () => number): Counters {
  const changes = createCounterChanges();
  const saveCounters = prepareSaveCounters(database, tables);
  const sequence = prepareSequence(database, tables, now);
  const held = prepareHeld(database, tables);

  function forget(): void {
    changes.clear();
    sequence.forget();
    held.forget();
  }

  return {
    nextMove: sequence.next,
    moved: changes.note,
    lost: changes.recordConflict,
    seen: changes.recordSeen,
    heldBy: (relayer) => held.of(relayer) + (changes.relayers.get(relayer.toLowerCase())?.open ?? 0),
    save() {
      saveCounters(changes);
      const moves = sequence.save();
      forget();
      return moves;
    },
    forget,
  };
}

/** Reads the numbers of moves outside the transactions that change them. */
export const readNumbers = (statement: (sql: string) => StatementSync, { counters }: QuotedTables) =>
  numbersOf(statement(`SELECT name, value FROM ${counters}`).all());

/** Reads the number of the last move alone. */
export function readSequence(statement: (sql: string) => StatementSync, { counters }: QuotedTables): number {
  return Number(statement(`SELECT value FROM ${counters} WHERE name = '${SEQUENCE}'`).get()?.value ?? 0);
}
