import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import type { Excuse } from '../evaluateReport.ts';
import { bigOf, hexOf, numberOf, orNull, type Row } from './openSeenChain.ts';

/** Requests under watch. Times are Unix seconds of the chain where they say so, and else Unix milliseconds. */
export const WATCHED_TABLES = `
  CREATE TABLE watched (
    request_id TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('pending', 'held', 'ended', 'watching', 'done')),
    status TEXT NOT NULL,
    relayer TEXT,
    claimed_seconds INTEGER,
    claim_nonce INTEGER,
    tx_hash TEXT,
    ended_seconds INTEGER,
    ended_block INTEGER,
    reported_seconds INTEGER,
    expires_seconds INTEGER,
    excuse TEXT NOT NULL,
    claim_price INTEGER NOT NULL,
    idle_seconds INTEGER NOT NULL,
    body TEXT,
    is_reopened INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    seen_at_ms INTEGER NOT NULL
  ) STRICT;
  -- What is to be evaluated, and what was not seen for long.
  CREATE INDEX watched_by_state ON watched (state, seen_at_ms);
  -- Whose transaction a reorganisation has undone.
  CREATE INDEX watched_by_transaction ON watched (tx_hash) WHERE tx_hash IS NOT NULL;
  -- What the Forwarder would not take any more.
  CREATE INDEX watched_by_end ON watched (expires_seconds) WHERE state = 'watching';
  -- The signers of what is in that state.
  CREATE TABLE watching (number INTEGER PRIMARY KEY, signer TEXT NOT NULL, request_id TEXT NOT NULL) STRICT;
  -- With what an execution is compared, the newest first.
  CREATE INDEX watching_by_signer ON watching (signer, number);
  -- What is watched no more.
  CREATE INDEX watching_by_request ON watching (request_id);
`;

/** How long what is over is remembered, in milliseconds: a week, as the executions of that time. */
export const KEEP_MS = 7 * 86_400_000;

/** Most failures of one signer that are watched on: anybody may post what fails in its name, and each of its executions is compared with all. */
const MAX_WATCHING = 100;

/** How far the watch over a request is. `watching`: reported `failed`, and not yet past the Forwarder's maximal age. */
export type WatchState = 'pending' | 'held' | 'ended' | 'watching' | 'done';

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
  /** Unix seconds at which the report was there, by whatever clock. */
  readonly endedSeconds: bigint | undefined;
  readonly endedBlock: bigint | undefined;
  /** Unix seconds of the report by the gateway's clock, or right after the chain's newest block when it was first seen, if that is earlier. */
  readonly reportedSeconds: bigint | undefined;
  readonly expiresSeconds: bigint | undefined;
  readonly excuse: Excuse;
  /** Price of a unit of gas when it was claimed, in wei; 0: not known. */
  readonly claimPrice: bigint;
  /** How long the holder was seen idle, in seconds. */
  readonly idleSeconds: bigint;
  /** The posted request: chainName, action and params as JSON; and the text of a `failed`. */
  readonly body: string | undefined;
  /** Whether it was open again after it had ended, at any time. */
  readonly isReopened: boolean;
  /** The chain's newest block when it was first listed. */
  readonly firstBlock: bigint;
}

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
    reportedSeconds: bigOf(row.reported_seconds),
    expiresSeconds: bigOf(row.expires_seconds),
    excuse: `${row.excuse}` as Excuse,
    claimPrice: BigInt(Number(row.claim_price)),
    idleSeconds: BigInt(Number(row.idle_seconds)),
    body: row.body == null ? undefined : `${row.body}`,
    isReopened: row.is_reopened === 1,
    firstBlock: BigInt(Number(row.first_block)),
  };
}

/** Requests under watch. */
export interface WatchedTable {
  /** Excuses whoever has claimed, and not yet been evaluated. */
  excuseOpen(excuse: Excuse): void;
  /** Excuses a `failed` that nodes have simulated, so that they are not asked again. */
  excuse(requestId: string): void;
  /** Has a `success` evaluated again whose transaction a reorganisation has undone. @param seconds - when it was seen, Unix, of the chain */
  reopen(requestId: string, seconds: bigint): void;
  /** Those that were reported with a transaction. */
  listNamed(txHash: Hex): readonly WatchedRow[];
  /** Counts time for all holders but those that have transactions waiting, of what was claimed at no lower a price. */
  countIdle(time: { readonly seconds: bigint; readonly claimPrice: bigint; readonly busy: Iterable<Hex> }): void;
  /** Begins the count of one holder's time anew. */
  resetIdle(requestId: string): void;
  get(requestId: string): WatchedRow | undefined;
  put(row: WatchedRow, atMs: number): void;
  /** Forgets a request that the gateway does not have any more. */
  forget(requestId: string): void;
  /** Notes that a request was listed as it was known. */
  touch(requestId: string, atMs: number): void;
  /** Watches a `failed` on, for an execution by one of its signers. */
  watch(requestId: string, signers: Iterable<Hex>): void;
  /** The failures of a signer that are watched on. */
  listWatching(signer: Hex): readonly WatchedRow[];
  /** Has one that is watched on evaluated again. */
  wake(requestId: string): void;
  /** Ends the watch over a request. */
  finish(requestId: string): void;
  /** Requests that have ended and are not evaluated. */
  listEnded(): readonly WatchedRow[];
  /** Requests whose holders are idle for longer. */
  listIdle(idleSeconds: bigint): readonly WatchedRow[];
  /** Who holds requests. */
  holders(): readonly Hex[];
  /** Requests that are open and were not listed since a time. */
  listUnseen(beforeMs: number, limit: number): readonly string[];
  /** Ends the watch over what the Forwarder would not take any more, and forgets what is long over. */
  retire(now: { readonly seconds: bigint; readonly ms: number }): void;
  /** Whether any request is in one of some states. */
  hasAny(states: readonly WatchState[]): boolean;
  /** How many requests there are in each state: of those of a week, all are counted. */
  count(): ReadonlyMap<string, number>;
}

/**
 * Opens their tables; what is long over is forgotten with the executions of its time. What was seen by a clock that has been set back since
 * counts as seen now.
 *
 * @param database - that has them, and those
 * @param nowMs - Unix time in milliseconds
 */
export function openWatchedTable(database: DatabaseSync, nowMs: number): WatchedTable {
  database
    .prepare("UPDATE watched SET seen_at_ms = ?1 WHERE state IN ('pending', 'held') AND seen_at_ms > ?1")
    .run(nowMs);
  const statements = {
    get: database.prepare('SELECT * FROM watched WHERE request_id = ?'),
    put: database.prepare(
      'INSERT OR REPLACE INTO watched VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    touch: database.prepare('UPDATE watched SET seen_at_ms = ? WHERE request_id = ?'),
    setState: database.prepare('UPDATE watched SET state = ? WHERE request_id = ?'),
    ended: database.prepare("SELECT * FROM watched WHERE state = 'ended'"),
    idle: database.prepare("SELECT * FROM watched WHERE state = 'held' AND idle_seconds > ?"),
    named: database.prepare("SELECT * FROM watched WHERE tx_hash = ? AND state IN ('ended', 'done')"),
    reopen: database.prepare(
      "UPDATE watched SET state = 'ended', excuse = 'undone', ended_block = NULL, ended_seconds = ? WHERE request_id = ?",
    ),
    countIdle: database.prepare(
      `UPDATE watched SET idle_seconds = idle_seconds + ? WHERE state = 'held' AND claim_price >= ?
       AND relayer NOT IN (SELECT value FROM json_each(?))`,
    ),
    resetIdle: database.prepare('UPDATE watched SET idle_seconds = 0 WHERE request_id = ?'),
    holders: database.prepare("SELECT DISTINCT relayer FROM watched WHERE state = 'held'"),
    unseen: database.prepare(
      "SELECT request_id FROM watched WHERE state IN ('pending', 'held') AND seen_at_ms < ? ORDER BY seen_at_ms LIMIT ?",
    ),
    addWatching: database.prepare('INSERT INTO watching (signer, request_id) VALUES (?, ?)'),
    boundWatching: database.prepare(
      `DELETE FROM watching WHERE signer = ?1 AND number <=
         (SELECT number FROM watching WHERE signer = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${MAX_WATCHING})`,
    ),
    watching: database.prepare(
      `SELECT watched.* FROM watching JOIN watched USING (request_id) WHERE signer = ? AND state = 'watching'`,
    ),
    stopWatching: database.prepare('DELETE FROM watching WHERE request_id = ?'),
    stopWatchingExpired: database.prepare(
      `DELETE FROM watching WHERE request_id IN
         (SELECT request_id FROM watched WHERE state = 'watching' AND expires_seconds < ?)`,
    ),
    expire: database.prepare("UPDATE watched SET state = 'done' WHERE state = 'watching' AND expires_seconds < ?"),
    forget: database.prepare('DELETE FROM watched WHERE request_id = ?'),
    forgetDone: database.prepare("DELETE FROM watched WHERE state = 'done' AND seen_at_ms < ?"),
    excuse: database.prepare("UPDATE watched SET excuse = 'simulated' WHERE request_id = ?"),
    excuseOpen: database.prepare(
      "UPDATE watched SET excuse = ? WHERE state IN ('held', 'ended', 'watching') AND excuse <> 'undone'",
    ),
    hasAny: database.prepare('SELECT 1 FROM watched WHERE state IN (SELECT value FROM json_each(?)) LIMIT 1'),
    count: database.prepare('SELECT state, count(*) AS requests FROM watched GROUP BY state'),
  };
  return {
    get(requestId: string) {
      const row = statements.get.get(requestId);
      return row === undefined ? undefined : readWatched(row);
    },
    put(row: WatchedRow, atMs: number) {
      const { requestId, state, status, relayer, claimNonce, txHash, excuse, body } = row;
      const claim = [relayer ?? null, orNull(row.claimedSeconds), claimNonce ?? null] as const;
      const ended = [row.endedSeconds, row.endedBlock, row.reportedSeconds].map(orNull);
      const end = [txHash ?? null, ...ended] as const;
      const held = [excuse, Number(row.claimPrice), Number(row.idleSeconds)] as const;
      const first = [Number(row.isReopened), Number(row.firstBlock)] as const;
      const rest = [orNull(row.expiresSeconds), ...held, body ?? null, ...first] as const;
      statements.put.run(requestId, state, status, ...claim, ...end, ...rest, atMs);
      statements.stopWatching.run(requestId);
    },
    forget(requestId: string) {
      statements.forget.run(requestId);
      statements.stopWatching.run(requestId);
    },
    touch: (requestId: string, atMs: number) => void statements.touch.run(atMs, requestId),
    watch(requestId: string, signers: Iterable<Hex>) {
      statements.setState.run('watching', requestId);
      statements.stopWatching.run(requestId);
      for (const signer of signers) {
        statements.addWatching.run(signer, requestId);
        statements.boundWatching.run(signer);
      }
    },
    listWatching: (signer: Hex) => statements.watching.all(signer).map(readWatched),
    wake: (requestId: string) => void statements.setState.run('ended', requestId),
    finish(requestId: string) {
      statements.setState.run('done', requestId);
      statements.stopWatching.run(requestId);
    },
    listEnded: () => statements.ended.all().map(readWatched),
    listIdle: (idleSeconds: bigint) => statements.idle.all(Number(idleSeconds)).map(readWatched),
    listNamed: (txHash: Hex) => statements.named.all(txHash).map(readWatched),
    reopen: (requestId: string, seconds: bigint) => void statements.reopen.run(Number(seconds), requestId),
    countIdle({ seconds, claimPrice, busy }: { seconds: bigint; claimPrice: bigint; busy: Iterable<Hex> }) {
      statements.countIdle.run(Number(seconds), Number(claimPrice), JSON.stringify([...busy]));
    },
    resetIdle: (requestId: string) => void statements.resetIdle.run(requestId),
    holders: () => statements.holders.all().map((row) => `${row.relayer}` as Hex),
    listUnseen: (beforeMs: number, limit: number) =>
      statements.unseen.all(beforeMs, limit).map((row) => `${row.request_id}`),
    retire({ seconds, ms }: { readonly seconds: bigint; readonly ms: number }) {
      statements.stopWatchingExpired.run(Number(seconds));
      statements.expire.run(Number(seconds));
      statements.forgetDone.run(ms - KEEP_MS);
    },
    excuseOpen: (excuse: Excuse) => void statements.excuseOpen.run(excuse),
    excuse: (requestId: string) => void statements.excuse.run(requestId),
    hasAny: (states: readonly WatchState[]) => statements.hasAny.get(JSON.stringify(states)) !== undefined,
    count: () => new Map(statements.count.all().map((row) => [`${row.state}`, Number(row.requests)])),
  };
}
