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
    early: 'the time from which this relayer may submit it',
    nonceAhead: 'an earlier forwarder nonce of its signer',
    nonceUnknown: 'the search for the forwarder nonce that it was signed for',
    reverts: 'the chain to change: it would revert',
    unjudged: 'an answer of the node',
  }[verdict.reason];
}

/** Opens the table of verdicts in a journal's database; its writes belong to the journal's commits. */
export function openJudgedTable(database: DatabaseSync): JudgedTable {
  const upsert = database.prepare(
    `INSERT INTO judged (request_id, signer, action, verdict, message, waits_for, judged_at, recheck_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (request_id) DO UPDATE SET verdict = excluded.verdict, message = excluded.message,
       waits_for = excluded.waits_for, judged_at = excluded.judged_at, recheck_at = excluded.recheck_at`,
  );
  const count = database.prepare('SELECT count(*) AS rows FROM judged');
  const prune = database.prepare(
    'DELETE FROM judged WHERE request_id IN (SELECT request_id FROM judged ORDER BY judged_at LIMIT ?)',
  );
  // The query has one row with this column.
  let rows = count.get()?.rows as number;
  return {
    write({ record, verdict, nowMs }) {
      const { requestId, signer, action } = record;
      const isLeft = verdict.kind === 'leave';
      const name = isLeft ? verdict.reason : verdict.kind;
      const message = verdict.kind === 'ready' ? null : (verdict.errorMessage ?? null);
      const recheckAt = isLeft ? Math.floor(verdict.recheckAtMs) : null;
      upsert.run(requestId, signer.toLowerCase(), action, name, message, describeWait(verdict), nowMs, recheckAt);
      rows += 1;
      if (rows <= MAX_JUDGED) return;
      prune.run(MAX_JUDGED / 10);
      rows = count.get()?.rows as number;
    },
  };
}
