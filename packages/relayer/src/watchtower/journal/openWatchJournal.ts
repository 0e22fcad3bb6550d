import type { DatabaseSync } from 'node:sqlite';
import { migrateDatabase, openDatabase, type Schema } from '@prism-gateway/node';
import { commitTogether, createOutboxTable, OUTBOX_SCHEMA, type OutboxTable } from '@prism-gateway/node/alerts';
import type { Hex } from 'viem';
import type { Finding, FindingKind } from '../finding.ts';
import { hexOf, openSeenChain, type Row, SEEN_CHAIN_TABLES, type SeenChain } from './openSeenChain.ts';
import { openWatchedTable, WATCHED_TABLES, type WatchedTable } from './openWatchedTable.ts';

/** Tables of findings. Times are Unix milliseconds. */
const FINDING_TABLES = `
  CREATE TABLE findings (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    relayer TEXT NOT NULL,
    text TEXT NOT NULL,
    tx_hash TEXT,
    block INTEGER NOT NULL,
    found_at_ms INTEGER NOT NULL,
    acted_at_ms INTEGER,
    UNIQUE (request_id, kind, relayer)
  ) STRICT;
  -- What nobody has acted on.
  CREATE INDEX findings_to_act_on ON findings (id) WHERE acted_at_ms IS NULL;
`;

/** A finding that is on the disk. */
export interface StoredFinding extends Finding {
  readonly id: number;
  readonly foundAtMs: number;
}

function readFinding(row: Row): StoredFinding {
  return {
    id: Number(row.id),
    requestId: `${row.request_id}`,
    kind: `${row.kind}` as FindingKind,
    relayer: `${row.relayer}` as Hex,
    text: `${row.text}`,
    txHash: hexOf(row.tx_hash),
    block: BigInt(Number(row.block)),
    foundAtMs: Number(row.found_at_ms),
  };
}

interface FindingTable {
  /** @returns the finding with its number; undefined if it is known */
  addFinding(finding: Finding, nowMs: number): StoredFinding | undefined;
  listFindings(): readonly StoredFinding[];
  listToActOn(): readonly StoredFinding[];
  markActedOn(id: number, nowMs: number): void;
}

/** Opens its table. @param database - that has it */
function openFindingTable(database: DatabaseSync): FindingTable {
  const statements = {
    add: database.prepare(
      `INSERT INTO findings (request_id, kind, relayer, text, tx_hash, block, found_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING *`,
    ),
    list: database.prepare('SELECT * FROM findings ORDER BY id'),
    toActOn: database.prepare('SELECT * FROM findings WHERE acted_at_ms IS NULL ORDER BY id'),
    acted: database.prepare('UPDATE findings SET acted_at_ms = ? WHERE id = ?'),
  };
  return {
    addFinding({ requestId, kind, relayer, text, txHash, block }: Finding, nowMs: number) {
      const row = statements.add.get(requestId, kind, relayer, text, txHash ?? null, Number(block), nowMs);
      return row === undefined ? undefined : readFinding(row);
    },
    listFindings: () => statements.list.all().map(readFinding),
    listToActOn: () => statements.toActOn.all().map(readFinding),
    markActedOn: (id: number, nowMs: number) => void statements.acted.run(nowMs, id),
  };
}

/** Tables of the claims given back or lost, by relayer and minute of the chain in which it held one idle, or gave one back. */
const RELEASE_TABLES = `
  CREATE TABLE releases (
    relayer TEXT NOT NULL,
    minute INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    released INTEGER NOT NULL,
    PRIMARY KEY (relayer, minute)
  ) STRICT, WITHOUT ROWID;
`;

/** A relayer's claims that it gave back or lost, since some time. */
export interface Releases {
  readonly relayer: Hex;
  /** The one of the newest minute. */
  readonly requestId: string;
  /** In how many separate minutes it held one of them idle, or gave one back. */
  readonly minutes: number;
  /** In how many of them it gave one back or lost it. */
  readonly releaseMinutes: number;
  readonly released: number;
  /** Whether it has carried anything out meanwhile. */
  readonly hasExecuted: boolean;
}

/** The end of a claim without a report. */
interface Release {
  readonly relayer: Hex;
  readonly requestId: string;
  /** Of the chain, Unix. */
  readonly seconds: bigint;
  /** How long the holder was seen idle until then, in seconds. */
  readonly idleSeconds: bigint;
}

interface ReleaseTable {
  /** Notes that a relayer has given a claim back, or lost it. */
  addRelease(release: Release): void;
  /** The claims given back or lost by each relayer. @param sinceSeconds - of the chain, Unix */
  listReleases(sinceSeconds: bigint): readonly Releases[];
  forgetReleases(which: { readonly beforeSeconds: bigint } | { readonly relayer: Hex }): void;
}

/** Opens its table; whether a relayer has carried anything out is read of the executions. @param database - that has both */
function openReleaseTable(database: DatabaseSync): ReleaseTable {
  const statements = {
    add: database.prepare(
      `INSERT INTO releases VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET released = released + excluded.released, request_id = excluded.request_id`,
    ),
    // SQLite takes the request of the row with the greatest minute.
    list: database.prepare(
      `SELECT relayer, request_id, max(minute), count(*) AS minutes,
         sum(released > 0) AS release_minutes, sum(released) AS released,
         EXISTS (SELECT 1 FROM executions WHERE executions.relayer = releases.relayer AND seen_seconds >= ?) AS has_executed
       FROM releases WHERE minute >= ? GROUP BY relayer`,
    ),
    forgetBefore: database.prepare('DELETE FROM releases WHERE minute < ?'),
    forgetOf: database.prepare('DELETE FROM releases WHERE relayer = ?'),
  };
  const minuteOf = (seconds: bigint) => Number(seconds / 60n);
  return {
    addRelease({ relayer, requestId, seconds, idleSeconds }: Release) {
      const last = minuteOf(seconds);
      for (let minute = minuteOf(seconds - idleSeconds); minute <= last; minute += 1) {
        statements.add.run(relayer, minute, requestId, minute === last ? 1 : 0);
      }
    },
    listReleases: (sinceSeconds: bigint) =>
      statements.list.all(Number(sinceSeconds), minuteOf(sinceSeconds)).map(
        (row): Releases => ({
          relayer: `${row.relayer}` as Hex,
          requestId: `${row.request_id}`,
          minutes: Number(row.minutes),
          releaseMinutes: Number(row.release_minutes),
          released: Number(row.released),
          hasExecuted: row.has_executed === 1,
        }),
      ),
    forgetReleases(which: { readonly beforeSeconds: bigint } | { readonly relayer: Hex }) {
      if ('relayer' in which) statements.forgetOf.run(which.relayer);
      else statements.forgetBefore.run(minuteOf(which.beforeSeconds));
    },
  };
}

const WATCH_SCHEMA: Schema = {
  store: 'watchtower',
  steps: [[WATCHED_TABLES, SEEN_CHAIN_TABLES, RELEASE_TABLES, FINDING_TABLES].join('')],
};
const BUSY_TIMEOUT_MS = 5000;

/** The memory of a watchtower for one chain; what changes within `commit` is on the disk together. */
export interface WatchJournal extends WatchedTable, SeenChain, FindingTable, ReleaseTable {
  readonly outbox: OutboxTable;
  commit<Result>(write: () => Result): Result;
  close(): void;
}

/**
 * Opens the journal of a watchtower for one chain: what it has seen of queue and chain, what it has found, and its alerts.
 *
 * @param options.path - the SQLite file; made if it is missing
 * @see docs/specification.md WATCH-3
 */
export function openWatchJournal(options: { readonly path: string; readonly now: () => number }): WatchJournal {
  const database = openDatabase(options.path, { timeout: BUSY_TIMEOUT_MS });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  migrateDatabase(database, [WATCH_SCHEMA, OUTBOX_SCHEMA]);
  return {
    outbox: createOutboxTable(database, { now: options.now, commit }),
    commit,
    ...openWatchedTable(database, options.now()),
    ...openSeenChain(database),
    ...openFindingTable(database),
    ...openReleaseTable(database),
    close: () => database.close(),
  };
}
