import type { DatabaseSync } from 'node:sqlite';
import { commitTogether, createOutboxTable, OUTBOX_TABLES, type OutboxTable } from '@prism-gateway/alerts';
import { openDatabase } from '@prism-gateway/runtime';
import type { Hex } from 'viem';
import type { Finding, FindingKind } from './finding.ts';
import type { SeenExecution } from './judgeReport.ts';

/** Tables of version 1. Times are Unix seconds of the chain where they say so, and else Unix milliseconds. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS watched (
    request_id TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('pending', 'held', 'ended', 'watching', 'done')),
    status TEXT NOT NULL,
    relayer TEXT,
    claimed_seconds INTEGER,
    claim_nonce INTEGER,
    tx_hash TEXT,
    ended_seconds INTEGER,
    ended_block INTEGER,
    expires_seconds INTEGER,
    is_excused INTEGER NOT NULL DEFAULT 0,
    body TEXT,
    seen_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS watched_by_state ON watched (state, seen_at_ms);
  CREATE TABLE IF NOT EXISTS signers (signer TEXT NOT NULL, request_id TEXT NOT NULL, PRIMARY KEY (signer, request_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS signers_of ON signers (request_id);
  CREATE TABLE IF NOT EXISTS executions (
    tx_hash TEXT NOT NULL,
    log_index INTEGER NOT NULL,
    block INTEGER NOT NULL,
    signer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    digest TEXT NOT NULL,
    relayer TEXT NOT NULL,
    deep_seconds INTEGER,
    seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tx_hash, log_index)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS executions_by_signer ON executions (signer);
  CREATE INDEX IF NOT EXISTS executions_by_block ON executions (block);
  CREATE TABLE IF NOT EXISTS releases (
    relayer TEXT NOT NULL,
    minute INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    released INTEGER NOT NULL,
    PRIMARY KEY (relayer, minute)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS heads (number INTEGER PRIMARY KEY, hash TEXT NOT NULL, seconds INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS findings (
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
  CREATE INDEX IF NOT EXISTS findings_to_act_on ON findings (id) WHERE acted_at_ms IS NULL;
`;

/** How long what is over is remembered, in milliseconds: a week. */
const KEEP_MS = 7 * 86_400_000;
/** How many of the newest heads are remembered, to tell how deep a reorganisation went. */
const KEPT_HEADS = 512;
const BUSY_TIMEOUT_MS = 5000;

/** How far the watch over a request is. `watching`: reported `failed`, and not yet past the Forwarder's maximal age. */
export type WatchState = 'pending' | 'held' | 'ended' | 'watching' | 'done';

/** A block, as it was the newest one. */
export interface SeenHead {
  readonly number: bigint;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly seconds: bigint;
}

/** A request under watch. */
export interface WatchedRow {
  readonly requestId: string;
  readonly state: WatchState;
  readonly status: string;
  /** In lower case; of one that is claimed or ended, as is what follows. */
  readonly relayer: Hex | undefined;
  readonly claimedSeconds: bigint | undefined;
  /** How many transactions the holder had sent when the claim was first seen. */
  readonly claimNonce: number | undefined;
  readonly txHash: Hex | undefined;
  /** Unix seconds of the report, as the gateway says. */
  readonly endedSeconds: bigint | undefined;
  readonly endedBlock: bigint | undefined;
  readonly expiresSeconds: bigint | undefined;
  readonly isExcused: boolean;
  /** What was posted: chainName, action and params as JSON. */
  readonly body: string | undefined;
}

/** An execution, with what tells whose it is. */
export interface StoredExecution extends SeenExecution {
  readonly logIndex: number;
  readonly signer: Hex;
  readonly nonce: bigint;
  readonly digest: Hex;
}

/** A finding that is on the disk. */
export interface StoredFinding extends Finding {
  readonly id: number;
  readonly foundAtMs: number;
}

type Row = Record<string, string | number | bigint | null | Uint8Array>;

// Only what this file wrote is read.
const hexOf = (value: Row[string] | undefined) => (value == null ? undefined : (`${value}` as Hex));
const bigOf = (value: Row[string] | undefined) => (value == null ? undefined : BigInt(Number(value)));
const numberOf = (value: Row[string] | undefined) => (value == null ? undefined : Number(value));
const orNull = (value: bigint | undefined) => (value === undefined ? null : Number(value));

function readWatched(row: Row): WatchedRow {
  return {
    requestId: `${row.request_id}`,
    state: `${row.state}` as WatchState,
    status: `${row.status}`,
    relayer: hexOf(row.relayer),
    claimedSeconds: bigOf(row.claimed_seconds),
    claimNonce: numberOf(row.claim_nonce),
    txHash: hexOf(row.tx_hash),
    endedSeconds: bigOf(row.ended_seconds),
    endedBlock: bigOf(row.ended_block),
    expiresSeconds: bigOf(row.expires_seconds),
    isExcused: row.is_excused === 1,
    body: row.body == null ? undefined : `${row.body}`,
  };
}

function readExecution(row: Row): StoredExecution {
  return {
    txHash: `${row.tx_hash}` as Hex,
    logIndex: Number(row.log_index),
    block: BigInt(Number(row.block)),
    signer: `${row.signer}` as Hex,
    nonce: BigInt(`${row.nonce}`),
    digest: `${row.digest}` as Hex,
    relayer: `${row.relayer}` as Hex,
    deepSeconds: bigOf(row.deep_seconds),
  };
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

/** What a relayer has given back before its lease was over, since some time. */
export interface Releases {
  readonly relayer: Hex;
  /** The one of the newest minute. */
  readonly requestId: string;
  /** In how many separate minutes. */
  readonly minutes: number;
  readonly released: number;
  /** Whether it has carried anything out meanwhile. */
  readonly hasExecuted: boolean;
}

/** The memory of a watchtower for one chain; what changes within `commit` is on the disk together. */
export interface WatchJournal {
  readonly outbox: OutboxTable;
  commit<Result>(write: () => Result): Result;
  /** Heads that were seen, newest first. */
  heads(): readonly SeenHead[];
  /** Puts down the newest head, and how deep what came before it is now. */
  addHead(head: SeenHead, confirmations: bigint): void;
  /** Forgets heads and executions above a block. @returns the signers of those executions */
  undoAbove(block: bigint): readonly Hex[];
  /** Excuses whoever has claimed, and not yet been judged. */
  excuseOpen(): void;
  addExecutions(executions: readonly StoredExecution[], nowMs: number): void;
  /** Executions of some signers, oldest first. */
  executionsOf(signers: Iterable<Hex>): readonly StoredExecution[];
  get(requestId: string): WatchedRow | undefined;
  put(row: WatchedRow, seen: { readonly signers: Iterable<Hex>; readonly atMs: number }): void;
  /** Forgets a request that the gateway does not have any more. */
  forget(requestId: string): void;
  /** Notes that a request was listed as it was known. */
  touch(requestId: string, atMs: number): void;
  setState(requestId: string, state: WatchState): void;
  /** Requests that have ended and are not judged, and those that are held since before a time, in Unix seconds. */
  listToJudge(heldBeforeSeconds: bigint): readonly WatchedRow[];
  /** Who holds requests. */
  holders(): readonly Hex[];
  /** Requests that are open and were not listed since a time. */
  listUnseen(beforeMs: number, limit: number): readonly string[];
  /** Has those of some signers that are only watched judged again. */
  wake(signers: Iterable<Hex>): void;
  /** Ends the watch over what the Forwarder would not take any more, and forgets what is long over. */
  retire(now: { readonly seconds: bigint; readonly ms: number }): void;
  /** @returns the finding with its number; undefined where it is known */
  addFinding(finding: Finding, nowMs: number): StoredFinding | undefined;
  listFindings(): readonly StoredFinding[];
  listToActOn(): readonly StoredFinding[];
  markActedOn(id: number, nowMs: number): void;
  /** Notes that a relayer has given a claim back. @param release.seconds - of the chain, Unix */
  addRelease(release: { readonly relayer: Hex; readonly requestId: string; readonly seconds: bigint }): void;
  /** What each relayer has given back. @param sinceSeconds - of the chain, Unix */
  listReleases(sinceSeconds: bigint): readonly Releases[];
  forgetReleases(which: { readonly beforeSeconds: bigint } | { readonly relayer: Hex }): void;
  /** How many requests there are in each state. */
  count(): ReadonlyMap<string, number>;
  close(): void;
}

/** Requests: their rows, and whose they are. */
function openWatched(database: DatabaseSync) {
  const statements = {
    get: database.prepare('SELECT * FROM watched WHERE request_id = ?'),
    put: database.prepare('INSERT OR REPLACE INTO watched VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    addSigner: database.prepare('INSERT OR IGNORE INTO signers VALUES (?, ?)'),
    touch: database.prepare('UPDATE watched SET seen_at_ms = ? WHERE request_id = ?'),
    setState: database.prepare('UPDATE watched SET state = ? WHERE request_id = ?'),
    toJudge: database.prepare(
      "SELECT * FROM watched WHERE state = 'ended' OR (state = 'held' AND claimed_seconds < ?)",
    ),
    holders: database.prepare("SELECT DISTINCT relayer FROM watched WHERE state = 'held'"),
    unseen: database.prepare(
      "SELECT request_id FROM watched WHERE state IN ('pending', 'held') AND seen_at_ms < ? ORDER BY seen_at_ms LIMIT ?",
    ),
    wake: database.prepare(
      `UPDATE watched SET state = 'ended' WHERE state = 'watching'
       AND request_id IN (SELECT request_id FROM signers WHERE signer = ?)`,
    ),
    expire: database.prepare("UPDATE watched SET state = 'done' WHERE state = 'watching' AND expires_seconds < ?"),
    forget: database.prepare('DELETE FROM watched WHERE request_id = ?'),
    forgetDone: database.prepare("DELETE FROM watched WHERE state = 'done' AND seen_at_ms < ?"),
    excuse: database.prepare("UPDATE watched SET is_excused = 1 WHERE state IN ('held', 'ended', 'watching')"),
    count: database.prepare('SELECT state, count(*) AS requests FROM watched GROUP BY state'),
  };
  return {
    get(requestId: string) {
      const row = statements.get.get(requestId);
      return row === undefined ? undefined : readWatched(row);
    },
    put(row: WatchedRow, { signers, atMs }: { readonly signers: Iterable<Hex>; readonly atMs: number }) {
      const { requestId, state, status, relayer, claimNonce, txHash, isExcused, body } = row;
      const claim = [relayer ?? null, orNull(row.claimedSeconds), claimNonce ?? null] as const;
      const end = [txHash ?? null, orNull(row.endedSeconds), orNull(row.endedBlock)] as const;
      const rest = [orNull(row.expiresSeconds), isExcused ? 1 : 0, body ?? null, atMs] as const;
      statements.put.run(requestId, state, status, ...claim, ...end, ...rest);
      for (const signer of signers) statements.addSigner.run(signer, requestId);
    },
    forget: (requestId: string) => void statements.forget.run(requestId),
    touch: (requestId: string, atMs: number) => void statements.touch.run(atMs, requestId),
    setState: (requestId: string, state: WatchState) => void statements.setState.run(state, requestId),
    listToJudge: (heldBefore: bigint) => statements.toJudge.all(Number(heldBefore)).map(readWatched),
    holders: () => statements.holders.all().map((row) => `${row.relayer}` as Hex),
    listUnseen: (beforeMs: number, limit: number) =>
      statements.unseen.all(beforeMs, limit).map((row) => `${row.request_id}`),
    wake(signers: Iterable<Hex>) {
      for (const signer of signers) statements.wake.run(signer);
    },
    retire({ seconds, ms }: { readonly seconds: bigint; readonly ms: number }) {
      statements.expire.run(Number(seconds));
      if (Number(statements.forgetDone.run(ms - KEEP_MS).changes) > 0)
        database.exec('DELETE FROM signers WHERE request_id NOT IN (SELECT request_id FROM watched)');
      database.prepare('DELETE FROM executions WHERE seen_at_ms < ?').run(ms - KEEP_MS);
    },
    excuseOpen: () => void statements.excuse.run(),
    count: () => new Map(statements.count.all().map((row) => [`${row.state}`, Number(row.requests)])),
  };
}

/** The chain as it was seen: heads and executions. */
function openSeenChain(database: DatabaseSync) {
  const statements = {
    heads: database.prepare('SELECT * FROM heads ORDER BY number DESC'),
    addHead: database.prepare('INSERT OR REPLACE INTO heads VALUES (?, ?, ?)'),
    trim: database.prepare('DELETE FROM heads WHERE number <= (SELECT max(number) FROM heads) - ?'),
    deepen: database.prepare('UPDATE executions SET deep_seconds = ? WHERE deep_seconds IS NULL AND block <= ?'),
    undone: database.prepare('SELECT DISTINCT signer FROM executions WHERE block > ?'),
    undoExecutions: database.prepare('DELETE FROM executions WHERE block > ?'),
    undoHeads: database.prepare('DELETE FROM heads WHERE number > ?'),
    add: database.prepare('INSERT OR REPLACE INTO executions VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)'),
    of: database.prepare('SELECT * FROM executions WHERE signer = ? ORDER BY block, log_index'),
  };
  return {
    heads: () =>
      statements.heads.all().map((row) => ({
        number: BigInt(Number(row.number)),
        hash: `${row.hash}` as Hex,
        seconds: BigInt(Number(row.seconds)),
      })),
    addHead({ number, hash, seconds }: SeenHead, confirmations: bigint) {
      statements.addHead.run(Number(number), hash, Number(seconds));
      statements.trim.run(KEPT_HEADS);
      statements.deepen.run(Number(seconds), Number(number - confirmations + 1n));
    },
    undoAbove(block: bigint) {
      const signers = statements.undone.all(Number(block)).map((row) => `${row.signer}` as Hex);
      statements.undoExecutions.run(Number(block));
      statements.undoHeads.run(Number(block));
      return signers;
    },
    addExecutions(executions: readonly StoredExecution[], nowMs: number) {
      for (const { txHash, logIndex, block, signer, nonce, digest, relayer } of executions)
        statements.add.run(txHash, logIndex, Number(block), signer, `${nonce}`, digest, relayer, nowMs);
    },
    executionsOf: (signers: Iterable<Hex>) =>
      [...signers].flatMap((signer) => statements.of.all(signer).map(readExecution)),
  };
}

/** What was given back. */
function openReleases(database: DatabaseSync) {
  const statements = {
    add: database.prepare(
      `INSERT INTO releases VALUES (?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET released = released + 1, request_id = excluded.request_id`,
    ),
    // SQLite takes the request of the row with the greatest minute.
    list: database.prepare(
      `SELECT relayer, request_id, max(minute), count(*) AS minutes, sum(released) AS released,
         EXISTS (SELECT 1 FROM executions WHERE executions.relayer = releases.relayer
           AND (deep_seconds IS NULL OR deep_seconds >= ?)) AS has_executed
       FROM releases WHERE minute >= ? GROUP BY relayer`,
    ),
    forgetBefore: database.prepare('DELETE FROM releases WHERE minute < ?'),
    forgetOf: database.prepare('DELETE FROM releases WHERE relayer = ?'),
  };
  const minuteOf = (seconds: bigint) => Number(seconds / 60n);
  return {
    addRelease({ relayer, requestId, seconds }: { relayer: Hex; requestId: string; seconds: bigint }) {
      statements.add.run(relayer, minuteOf(seconds), requestId);
    },
    listReleases: (sinceSeconds: bigint) =>
      statements.list.all(Number(sinceSeconds), minuteOf(sinceSeconds)).map(
        (row): Releases => ({
          relayer: `${row.relayer}` as Hex,
          requestId: `${row.request_id}`,
          minutes: Number(row.minutes),
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

/** What was found out. */
function openFindings(database: DatabaseSync) {
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
  commit(() => database.exec(TABLES + OUTBOX_TABLES));
  return {
    outbox: createOutboxTable(database, { now: options.now, commit }),
    commit,
    ...openWatched(database),
    ...openSeenChain(database),
    ...openFindings(database),
    ...openReleases(database),
    close: () => database.close(),
  };
}
