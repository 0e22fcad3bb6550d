import type { DatabaseSync } from 'node:sqlite';
import { REQUEST_MOVES } from '@prism-gateway/protocol/states';
import type { ExpiredStep, ExpiryStep, WalkPosition } from '../sql/createRetention.ts';
import { BY_ADMINISTRATOR, type MoveContext, release } from '../sql/moves.ts';
import type { Counters } from './counters.ts';
import { type QuotedTables, WEIGHT_COLUMNS, weightOfRow } from './tables.ts';

/** Most records that one step removes: some milliseconds' work, which others wait for. */
const MAX_REMOVED = 100;

/** Pages of 4 kB that one step gives back to the file system: each may have to be filled from the file's end. */
const VACUUM_PAGES = 100;

/** Prepares the removal of old records, and of the space that they took, each in small steps. */
export function prepareRetention(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  // Nobody has ever moved a pending record that no call has left its id on.
  const select = database.prepare(`
    SELECT seq, created_at, request_id, chain_name, ${WEIGHT_COLUMNS.join(', ')},
      updated_at <= ? AND (status <> 'pending' OR call_id IS NULL) AS is_old
    FROM ${t.requests} WHERE status = ? AND created_at <= ? AND (created_at, request_id) > (?, ?)
    ORDER BY created_at, request_id LIMIT ${MAX_WALKED}`);
  const remove = database.prepare(`DELETE FROM ${t.requests} WHERE seq = ?`);
  const removeParams = database.prepare(`DELETE FROM ${t.params} WHERE seq = ?`);
  return {
    expireStep({ status, before, after }: ExpiryStep): ExpiredStep {
      let [removed, next] = [0, after];
      const rows = select.all(before, status, before, after.createdAt, after.requestId);
      for (const row of rows) {
        if (removed === MAX_REMOVED) return { removed, next };
        next = { createdAt: Number(row.created_at), requestId: String(row.request_id) };
        if (row.is_old !== 1) continue;
        const seq = Number(row.seq);
        remove.run(seq);
        removeParams.run(seq);
        const weight = weightOfRow(row);
        counters.moved({ chainName: String(row.chain_name), from: status, to: null, at: before, weight });
        removed++;
      }
      return rows.length < MAX_WALKED ? { removed } : { removed, next };
    },
    /** @returns pages that are still free afterwards; 0 in a file that cannot give any back */
    vacuumStep(): number {
      if (Number(database.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum) !== 2) return 0;
      database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      return Number(database.prepare('PRAGMA freelist_count').get()?.freelist_count);
    },
  };
}

/** A part of a walk over all claims that gives back those of one relayer. */
export interface ReleaseStep {
  readonly relayer: string;
  readonly now: number;
  /** Most releases. */
  readonly limit: number;
  readonly after: WalkPosition;
}

/** The claims given back by a step, and where the next one begins; without `next` the walk is at its end. */
export interface ReleasedStep {
  readonly released: readonly { readonly requestId: string; readonly chainName: string }[];
  readonly next?: WalkPosition;
}

/** Most records that one step of a walk looks at. */
const MAX_WALKED = 500;

/** Prepares the release of what one relayer holds, step by step. */
export function prepareReleaseStep(database: DatabaseSync, t: QuotedTables, moves: MoveContext) {
  const select = database.prepare(`
    SELECT created_at, request_id, chain_name, claimed_by FROM ${t.requests}
    WHERE status = '${REQUEST_MOVES.release.from}' AND (created_at, request_id) > (?, ?)
    ORDER BY created_at, request_id LIMIT ${MAX_WALKED}`);
  return function releaseStep({ relayer, now, limit, after }: ReleaseStep): ReleasedStep {
    const released: { requestId: string; chainName: string }[] = [];
    let next = after;
    const rows = select.all(after.createdAt, after.requestId);
    for (const row of rows) {
      if (released.length === limit) return { released, next };
      const [requestId, owner] = [String(row.request_id), String(row.claimed_by)];
      next = { createdAt: Number(row.created_at), requestId };
      if (owner.toLowerCase() !== relayer.toLowerCase()) continue;
      release(moves, { requestId, relayer: owner, releaseId: BY_ADMINISTRATOR, now });
      released.push({ requestId, chainName: String(row.chain_name) });
    }
    return rows.length < MAX_WALKED ? { released } : { released, next };
  };
}
