import { commitTogether, createOutboxTable, OUTBOX_TABLES, type OutboxTable } from '@prism-gateway/alerts';
import { openDatabase } from '@prism-gateway/runtime';
import { FINDING_TABLES, type FindingTable, openFindingTable } from './openFindingTable.ts';
import { openReleaseTable, RELEASE_TABLES, type ReleaseTable } from './openReleaseTable.ts';
import { openSeenChain, SEEN_CHAIN_TABLES, type SeenChain } from './openSeenChain.ts';
import { openWatchedTable, WATCHED_TABLES, type WatchedTable } from './openWatchedTable.ts';

/** Of version 1. */
const TABLES = [WATCHED_TABLES, SEEN_CHAIN_TABLES, RELEASE_TABLES, FINDING_TABLES, OUTBOX_TABLES].join('');
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
 * @param options.path - the SQLite file; made where it is missing
 * @param options.now - Unix time in milliseconds
 * @see docs/specification.md WATCH-3
 */
export function openWatchJournal(options: { readonly path: string; readonly now: () => number }): WatchJournal {
  const database = openDatabase(options.path, { timeout: BUSY_TIMEOUT_MS });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  commit(() => database.exec(TABLES));
  return {
    outbox: createOutboxTable(database, { now: options.now, commit }),
    commit,
    ...openWatchedTable(database),
    ...openSeenChain(database),
    ...openFindingTable(database),
    ...openReleaseTable(database),
    close: () => database.close(),
  };
}
