import type { DatabaseSync } from 'node:sqlite';
import type { Verdict } from '../checks/verdict.ts';
import type { RelayedRecord } from '../lifecycle/openRequest.ts';

/** Most verdicts that are kept: the oldest go first, a tenth at a time. */
const MAX_JUDGED = 250_000;

/** A verdict that was found. */
export interface JudgedRequest {
  readonly record: Pick<RelayedRecord, 'requestId' | 'signer' | 'action'>;
  readonly verdict: Verdict;
  readonly nowMs: number;
}

/** Keeps the verdicts of requests, claimed or not. */
export interface JudgedTable {
  write(judged: JudgedRequest): void;
  /** Requests whose time to be looked at again has come, or whose fee pays at a price of gas; the first ones, not claimed here. */
  recall(when: RecallQuery): readonly string[];
  /** Has requests looked at again later, if at all. */
  postpone(requestIds: readonly string[], untilMs: number): void;
  forget(requestId: string): void;
  /** Whether a request was left when it was judged last, so that it is recalled when its time has come. */
  isLeft(requestId: string): boolean;
}

/** Which requests are to be looked at again. */
export interface RecallQuery {
  readonly nowMs: number;
  /** In wei. */
  readonly gasPrice: bigint;
  readonly limit: number;
}

/** What has to come first, in words. */
function describeWait(verdict: Verdict): string | null {
  if (verdict.kind !== 'leave') return null;
  if (verdict.gap !== undefined) return `forwarder nonce ${verdict.gap.nonce} of ${verdict.gap.signer}`;
  return {
    action: 'another relayer: ACTIONS does not name its action',
    sponsor: 'another relayer: it asks for more credits than MAX_SPONSOR_CREDITS',
    fee: 'gas at a price that its fee pays',
    gasPrice: 'gas below MAX_FEE_GWEI',
    closing: 'its window to close: that ends before a transaction could be mined and confirmed',
    early: 'the time from which this relayer may submit it',
    nonceAhead: 'an earlier forwarder nonce of its signer',
    nonceUnknown: 'the search for the forwarder nonce that it was signed for',
    reverts: 'the chain to change: it would revert',
    unjudged: 'an answer of the node',
    unclaimed: 'the gateway to take its claim',
    budget: 'a loss budget to be free again',
    wallet: 'another relayer: UNKNOWN_WALLETS does not allow the code of its contract wallet',
    duplicate: 'the very same request, which stands before it in the queue',
  }[verdict.reason];
}

/** Opens the table of verdicts in a journal's database; its writes belong to the journal's commits. */
export function openJudgedTable(database: DatabaseSync): JudgedTable {
  const upsert = database.prepare(
    `INSERT INTO judged (request_id, signer, action, verdict, message, waits_for, judged_at, recheck_at, pays_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (request_id) DO UPDATE SET verdict = excluded.verdict, message = excluded.message,
       waits_for = excluded.waits_for, judged_at = excluded.judged_at, recheck_at = excluded.recheck_at, pays_at = excluded.pays_at`,
  );
  const count = database.prepare('SELECT count(*) AS rows FROM judged');
  const prune = database.prepare(
    'DELETE FROM judged WHERE request_id IN (SELECT request_id FROM judged ORDER BY judged_at LIMIT ?)',
  );
  // What is never looked at again goes first.
  const pruneFinal = database.prepare(
    `DELETE FROM judged WHERE request_id IN
       (SELECT request_id FROM judged WHERE recheck_at IS NULL AND coalesce(pays_at, 0) <= 0 ORDER BY judged_at LIMIT ?)`,
  );
  const recall = database.prepare(
    `SELECT request_id FROM judged WHERE recheck_at <= ?
       AND request_id NOT IN (SELECT request_id FROM requests WHERE state <> 'lost') ORDER BY recheck_at LIMIT ?`,
  );
  const recallCheap = database.prepare(
    `SELECT request_id FROM judged WHERE pays_at >= ? AND pays_at > 0 AND coalesce(recheck_at, 0) <= ?
       AND request_id NOT IN (SELECT request_id FROM requests WHERE state <> 'lost') ORDER BY pays_at DESC LIMIT ?`,
  );
  const postpone = database.prepare(
    `UPDATE judged SET recheck_at = ? WHERE request_id = ? AND (recheck_at < ? OR (recheck_at IS NULL AND pays_at > 0))`,
  );
  const forget = database.prepare('DELETE FROM judged WHERE request_id = ?');
  const isLeft = database.prepare(
    `SELECT 1 FROM judged WHERE request_id = ? AND verdict NOT IN ('ready', 'settle')
       AND request_id NOT IN (SELECT request_id FROM requests WHERE state <> 'lost')`,
  );
  // ACTIONS and MAX_SPONSOR_CREDITS may be others now.
  database.exec("UPDATE judged SET recheck_at = 0 WHERE verdict IN ('action', 'sponsor', 'wallet', 'budget')");
  // The query has one row with this column.
  let rows = count.get()?.rows as number;
  return {
    write({ record, verdict, nowMs }) {
      const { requestId, signer, action } = record;
      const isLeft = verdict.kind === 'leave';
      const name = isLeft ? verdict.reason : verdict.kind;
      const message = verdict.kind === 'ready' ? null : (verdict.errorMessage ?? null);
      const paysAt = isLeft && verdict.paysAtWei !== undefined ? Number(verdict.paysAtWei) : null;
      upsert.run(
        ...[requestId, signer.toLowerCase(), action, name, message, describeWait(verdict), nowMs],
        ...[chooseRecheck(verdict, nowMs), paysAt],
      );
      rows += 1;
      if (rows <= MAX_JUDGED) return;
      if (pruneFinal.run(MAX_JUDGED / 10).changes === 0) prune.run(MAX_JUDGED / 10);
      rows = count.get()?.rows as number;
    },
    recall({ nowMs, gasPrice, limit }) {
      const again = [...recall.all(nowMs, limit), ...recallCheap.all(Number(gasPrice), nowMs, limit)];
      return [...new Set(again.map((row) => row.request_id as string))];
    },
    postpone(requestIds, untilMs) {
      for (const requestId of requestIds) postpone.run(untilMs, requestId, untilMs);
    },
    forget: (requestId) => void forget.run(requestId),
    isLeft: (requestId) => isLeft.get(requestId) !== undefined,
  };
}

/** When a request is read again that is not in memory any more; null: never, or as soon as its fee pays. */
function chooseRecheck(verdict: Verdict, nowMs: number): number | null {
  if (verdict.kind !== 'leave') return nowMs;
  const { reason, recheckAtMs, paysAtWei } = verdict;
  if (reason === 'action' || reason === 'sponsor' || reason === 'wallet' || paysAtWei !== undefined) return null;
  return Math.floor(recheckAtMs);
}
