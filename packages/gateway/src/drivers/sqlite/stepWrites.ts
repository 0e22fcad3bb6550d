import type { DatabaseSync } from 'node:sqlite';
import { REQUEST_MOVES as MOVES } from '@prism-gateway/protocol/states';
import type { BatchTransition, Release, Report, Transition } from '../../ports/requestStore.ts';
import type { ExpiredStep, ExpiryStep, WalkPosition } from '../sql/createRetention.ts';
import { inBatch } from '../sql/tables.ts';
import type { Counters } from './counters.ts';
import { prepareTransition, type QuotedTables, type ReadTransition } from './tables.ts';

/** Most records that one step removes: some milliseconds' work, which others wait for. */
const MAX_REMOVED = 100;

/** Pages of 4 kB that one step gives back to the file system: each may have to be filled from the file's end. */
const VACUUM_PAGES = 100;

/** Prepares the removal of old records, and of the space that they took, each in small steps. */
export function prepareRetention(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  // Nobody has ever moved a pending record that no call has left its id on.
  const select = database.prepare(`
    SELECT seq, created_at, request_id, chain_name,
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
        counters.moved({ chainName: String(row.chain_name), from: status, to: null, at: before });
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

/** Prepares single reports. */
export function prepareReport(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, transitionOf }: { readonly counters: Counters; readonly transitionOf: ReadTransition },
) {
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = ?, tx_hash = ?, error_message = ?, updated_at = ?, call_id = ?, moved_seq = ?
    WHERE request_id = ? AND status = '${MOVES.report.from}' AND claimed_by = ?`);
  return function report({ requestId, relayer, reportId, now, outcome }: Report): Transition {
    const txHash = outcome.status === 'success' ? outcome.txHash : null;
    const errorMessage = outcome.status === 'failed' ? outcome.errorMessage : null;
    const values = [outcome.status, txHash, errorMessage, now, reportId, counters.nextMove()];
    const isMade = update.run(...values, requestId, relayer).changes === 1;
    const transition = transitionOf(requestId, reportId);
    if (!isMade || transition.outcome === 'missing') return transition;
    const { chainName, claimedAt } = transition.record;
    const move = { chainName, from: MOVES.report.from, to: outcome.status, at: now };
    counters.moved({ ...move, oldOwner: relayer, claimedAt });
    return transition;
  };
}

/** Makes every report of a batch. */
export const createReportAll =
  (report: (report: Report) => Transition) =>
  (reports: readonly Report[]): readonly BatchTransition[] =>
    reports.map((one) => inBatch(report(one)));

/** What a release leaves of a claim, with the values of `updated_at`, `call_id` and `moved_seq`. */
const RELEASED = `status = '${MOVES.release.to[0]}', claimed_by = NULL, claimed_at = NULL, error_message = NULL,
  updated_at = ?, call_id = ?, moved_seq = ?`;

/** Prepares the release of one request by its owner, or the reopening of what it reported failed. */
export function prepareRelease(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, move }: { readonly counters: Counters; readonly move: 'release' | 'reopen' },
) {
  const { from } = MOVES[move];
  const update = database.prepare(`
    UPDATE ${t.requests} SET ${RELEASED}
    WHERE request_id = ? AND status = '${from}' AND claimed_by = ? AND claimed_at = coalesce(?, claimed_at)`);
  const transitionOf = prepareTransition(database, t);
  return function release({ requestId, relayer, releaseId, now, claimedAt }: Release): Transition {
    const isMade = update.run(now, releaseId, counters.nextMove(), requestId, relayer, claimedAt ?? null).changes === 1;
    const transition = transitionOf(requestId, releaseId);
    if (!isMade || transition.outcome === 'missing') return transition;
    const { chainName } = transition.record;
    const owner = move === 'release' && { oldOwner: relayer };
    counters.moved({ chainName, from, to: MOVES[move].to[0], at: now, ...owner });
    return transition;
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

/** What a step has given back, and where the next one begins; without `next` the walk is at its end. */
export interface ReleasedStep {
  readonly released: readonly { readonly requestId: string; readonly chainName: string }[];
  readonly next?: WalkPosition;
}

/** Most records that one step of a walk looks at. */
const MAX_WALKED = 500;

/** Prepares the release of what one relayer holds, step by step. */
export function prepareReleaseStep(database: DatabaseSync, t: QuotedTables, counters: Counters) {
  const select = database.prepare(`
    SELECT seq, created_at, request_id, chain_name, claimed_by FROM ${t.requests}
    WHERE status = '${MOVES.release.from}' AND (created_at, request_id) > (?, ?)
    ORDER BY created_at, request_id LIMIT ${MAX_WALKED}`);
  const update = database.prepare(`UPDATE ${t.requests} SET ${RELEASED} WHERE seq = ?`);
  return function releaseStep({ relayer, now, limit, after }: ReleaseStep): ReleasedStep {
    const released: { requestId: string; chainName: string }[] = [];
    let next = after;
    const rows = select.all(after.createdAt, after.requestId);
    for (const row of rows) {
      if (released.length === limit) return { released, next };
      next = { createdAt: Number(row.created_at), requestId: String(row.request_id) };
      if (String(row.claimed_by).toLowerCase() !== relayer.toLowerCase()) continue;
      update.run(now, 'released by an administrator', counters.nextMove(), Number(row.seq));
      const chainName = String(row.chain_name);
      counters.moved({ chainName, from: MOVES.release.from, to: MOVES.release.to[0], at: now, oldOwner: relayer });
      released.push({ requestId: next.requestId, chainName });
    }
    return rows.length < MAX_WALKED ? { released } : { released, next };
  };
}
