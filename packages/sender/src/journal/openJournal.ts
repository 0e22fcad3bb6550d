import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { migrateDatabase, NewerSchemaError, openDatabase } from '@prism-gateway/node';
import type { Intent, TxVersion } from '../intents/intent.ts';
import { FINAL_STATES, type IntentState } from '../intents/intentState.ts';
import type { LiveIntent } from '../intents/liveIntent.ts';
import { SenderError } from '../senderError.ts';
import { createEndedIntents } from './endedIntents.ts';
import { intentParameters, type Row, readIntent, readVersion, SENDER_SCHEMA, versionParameters } from './schema.ts';

/** Entries written together: all of them, or none. */
export interface JournalEntry {
  readonly intents: readonly LiveIntent[];
  readonly versions: readonly TxVersion[];
}

/** The durable memory of a sender. */
export interface Journal {
  /** Writes in one transaction, and returns once the disk has it. @throws SenderError `JOURNAL_FAILED` */
  commit(entry: JournalEntry): void;
  get(intentId: string): LiveIntent | undefined;
  /** The kept form of an intent that was pruned. */
  ended(intentId: string): Intent | undefined;
  /** The kept forms of those that were pruned. */
  listEnded(states: readonly IntentState[]): readonly Intent[];
  /** Intents in the order in which they were made, but those that were pruned. */
  list(states: readonly IntentState[]): readonly LiveIntent[];
  /** The highest nonce ever signed for. */
  highestNonce(): number | undefined;
  /** The versions on a nonce, oldest first. */
  versionsOn(nonce: number): readonly TxVersion[];
  /**
   * Puts intents that have ended on account nonces below one into their short form: id, nonce, hashes, the call's too, and outcome.
   *
   * @returns those that have it
   */
  prune(intentIds: readonly string[], belowNonce: number): readonly string[];
  /** Writes a fact once. @returns the fact as it was written first */
  pinFact(name: string, value: string): string;
  /** Reads a fact. @returns undefined if it was never written */
  fact(name: string): string | undefined;
  /** Writes a fact that may change. @throws SenderError `JOURNAL_FAILED` */
  setFact(name: string, value: string): void;
  close(): void;
}

const INTENT_COLUMNS = [
  'intent_id',
  'to_address',
  'data',
  'value',
  'gas_limit',
  'confirmations',
  'label',
  'state',
  'nonce',
  'failure',
  'mined',
  'sent',
  'created_at_ms',
  'updated_at_ms',
  'max_fee_per_gas',
  'expires_at_ms',
];
const CHANGING_COLUMNS = ['gas_limit', 'confirmations', 'state', 'nonce', 'failure', 'mined', 'sent', 'updated_at_ms'];

/** The fact that has the highest account nonce of what was pruned. */
const PRUNED = 'prunedNonce';

function prepareWrites(database: DatabaseSync) {
  const sets = CHANGING_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ');
  return {
    intent: database.prepare(
      `INSERT INTO intents (${INTENT_COLUMNS.join(', ')}) VALUES (${INTENT_COLUMNS.map((column) => `:${column}`).join(', ')})
       ON CONFLICT (intent_id) DO UPDATE SET ${sets}`,
    ),
    // Signing is deterministic: the same transaction signed once more is the same row.
    version: database.prepare(
      `INSERT INTO versions VALUES (:hash, :intent_id, :nonce, :kind, :raw, :data_at, :gas_limit, :max_fee_per_gas,
       :max_priority_fee_per_gas, :created_at_ms) ON CONFLICT (hash) DO NOTHING`,
    ),
  };
}

/** Opens the file with its tables. The write-ahead log is synced at every commit: what has been committed survives a power loss. */
export function openTables(path: string): DatabaseSync {
  const database = openDatabase(path, { timeout: 5000 });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    migrateDatabase(database, [SENDER_SCHEMA]);
    return database;
  } catch (error) {
    database.close();
    if (error instanceof NewerSchemaError) throw new SenderError('JOURNAL_FAILED', error.message, { cause: error });
    throw error;
  }
}

function createReads(database: DatabaseSync) {
  const byId = database.prepare('SELECT * FROM intents WHERE intent_id = ?');
  const select = 'SELECT versions.*, intents.data FROM versions LEFT JOIN intents USING (intent_id)';
  const versionsOf = database.prepare(`${select} WHERE intent_id = ? ORDER BY versions.created_at_ms, versions.rowid`);
  const versionsOn = database.prepare(
    `${select} WHERE versions.nonce = ? ORDER BY versions.created_at_ms, versions.rowid`,
  );
  const highest = database.prepare(
    `SELECT max(nonce) AS nonce FROM (SELECT max(nonce) AS nonce FROM versions
     UNION ALL SELECT CAST(value AS INTEGER) FROM facts WHERE name = '${PRUNED}')`,
  );
  const readRows = (statement: StatementSync, key: string | number) => statement.all(key).map(readVersion);
  const withVersions = (row: Row) => readIntent(row, readRows(versionsOf, `${row.intent_id}`));
  return {
    get(intentId: string) {
      const row = byId.get(intentId);
      return row === undefined ? undefined : withVersions(row);
    },
    list(states: readonly IntentState[]) {
      // States are names of our own, and few.
      const names = states.map((state) => `'${state}'`).join(', ');
      const rows = database
        .prepare(`SELECT * FROM intents WHERE state IN (${names}) ORDER BY created_at_ms, rowid`)
        .all();
      return rows.map(withVersions);
    },
    highestNonce() {
      const nonce = highest.get()?.nonce;
      return typeof nonce === 'number' ? nonce : undefined;
    },
    versionsOn: (nonce: number) => readRows(versionsOn, nonce),
  };
}

/**
 * Opens the journal: SQLite with a write-ahead log that is synced at every commit.
 *
 * @param path - the file, made if it is missing
 * @returns the journal
 * @throws SenderError `JOURNAL_FAILED` for a journal of a newer version
 * @see https://sqlite.org/wal.html
 */
export function openJournal(path: string): Journal {
  const database = openTables(path);
  const writes = prepareWrites(database);
  const addFact = database.prepare('INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING');
  const setFact = database.prepare(
    'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const readFact = database.prepare('SELECT value FROM facts WHERE name = ?');
  const selectData = database.prepare('SELECT data FROM intents WHERE intent_id = ?');

  function write(work: () => void): void {
    try {
      database.exec('BEGIN IMMEDIATE');
      work();
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      const reason = error instanceof Error ? error.message : 'unknown';
      throw new SenderError('JOURNAL_FAILED', `The journal cannot be written: ${reason}.`, { cause: error });
    }
  }

  function dataOf({ intentId }: TxVersion): Uint8Array {
    const data = intentId === undefined ? undefined : selectData.get(intentId)?.data;
    return data instanceof Uint8Array ? data : new Uint8Array();
  }

  function commit({ intents, versions }: JournalEntry): void {
    if (intents.length === 0 && versions.length === 0) return;
    write(() => {
      // Intents come first: versions refer to them.
      for (const intent of intents) writes.intent.run(intentParameters(intent));
      for (const version of versions) writes.version.run(versionParameters(version, dataOf(version)));
    });
  }

  const reads = createReads(database);
  const ended = createEndedIntents(database);

  function prune(intentIds: readonly string[], belowNonce: number): readonly string[] {
    const final = intentIds.flatMap((intentId) => {
      const intent = reads.get(intentId);
      const isFinal = intent !== undefined && FINAL_STATES.includes(intent.state);
      return isFinal && (intent.nonce ?? belowNonce) < belowNonce ? [intent] : [];
    });
    const highest = reads.highestNonce();
    if (final.length > 0) {
      write(() => {
        for (const intent of final) ended.add(intent);
        setFact.run(PRUNED, `${highest}`);
      });
    }
    return intentIds.filter((intentId) => ended.get(intentId) !== undefined);
  }

  return {
    commit,
    prune,
    ...reads,
    ended: ended.get,
    listEnded: ended.list,
    fact(name) {
      const value = readFact.get(name)?.value;
      return typeof value === 'string' ? value : undefined;
    },
    setFact: (name, value) => write(() => void setFact.run(name, value)),
    pinFact(name, value) {
      addFact.run(name, value);
      return `${readFact.get(name)?.value}`;
    },
    close: () => database.close(),
  };
}
