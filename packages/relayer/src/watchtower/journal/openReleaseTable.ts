import type { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';

/** What was given back, by relayer and minute of the chain. */
export const RELEASE_TABLES = `
  CREATE TABLE IF NOT EXISTS releases (
    relayer TEXT NOT NULL,
    minute INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    released INTEGER NOT NULL,
    PRIMARY KEY (relayer, minute)
  ) STRICT, WITHOUT ROWID;
`;

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

/** What relayers have given back. */
export interface ReleaseTable {
  /** Notes that a relayer has given a claim back. @param release.seconds - of the chain, Unix */
  addRelease(release: { readonly relayer: Hex; readonly requestId: string; readonly seconds: bigint }): void;
  /** What each relayer has given back. @param sinceSeconds - of the chain, Unix */
  listReleases(sinceSeconds: bigint): readonly Releases[];
  forgetReleases(which: { readonly beforeSeconds: bigint } | { readonly relayer: Hex }): void;
}

/** Opens its table; whether a relayer has carried anything out is read of the executions. @param database - that has both */
export function openReleaseTable(database: DatabaseSync): ReleaseTable {
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
