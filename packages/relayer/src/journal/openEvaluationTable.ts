import type { DatabaseSync } from 'node:sqlite';
import {
  type DigestSettings,
  type GapState,
  isLeaveReason,
  type LeaveReason,
  listReasons,
  nameGap,
  ruleOf,
  type Verdict,
  type Wait,
} from '../checks/leaveReasons.ts';
import type { RelayedRecord } from '../lifecycle/states.ts';

/** Most verdicts that are kept: a tenth of them goes at a time. */
const MAX_EVALUATED = 250_000;
/** Most requests of one signer that are due at once, the newest ones: whoever posts more waits for the rest. */
const MAX_TOUCHED = 1000;

/** How long after it was evaluated a request may be looked at again for its price, in milliseconds. */
const PRICED_MS = 10_000;
/** Reasons that a transaction of the signer may end, as SQL has them. */
const ENDED_BY_SIGNER = `('${listReasons()
  .filter((reason) => ruleOf(reason).isEndedBySigner)
  .join("', '")}')`;

/** A verdict that was found. */
export interface EvaluatedRequest {
  readonly record: Pick<RelayedRecord, 'requestId' | 'signer' | 'action'>;
  readonly verdict: Verdict;
  /** What is in its way, also if the verdict does not say so: its patience is over, or its nonce is searched for once more. */
  readonly wait?: Wait | undefined;
  /** Since when the same is in its way, in Unix milliseconds. */
  readonly sinceMs: number;
  /** When it is looked at again, in Unix milliseconds; Infinity: by no queue. @see chooseRecheck */
  readonly recheckAtMs: number;
  readonly nowMs: number;
}

/** A request that was left, when it was evaluated last. */
export interface LeftRequest {
  readonly reason: LeaveReason;
  /** In lower case. */
  readonly signer: string;
  /** In Unix milliseconds. */
  readonly atMs: number;
}

/** Which requests are to be looked at again. */
export interface RecallQuery {
  readonly nowMs: number;
  /** In wei; undefined: not known, and asked for by none. */
  readonly gasPrice: bigint | undefined;
  readonly limit: number;
  /** Whether there is room for requests of known payers alone. */
  readonly isFull: boolean;
  /** Whether a request is in memory: that looks at it itself. */
  readonly isKnown: (requestId: string) => boolean;
}

/** Signers that have paid more than their requests have cost. */
const KNOWN_PAYERS = "SELECT signer FROM customers WHERE paid_net <> '0' AND paid_net NOT LIKE '-%'";

/** Holds for requests that are still in the queue: neither claimed nor reported. */
const IS_FREE = "NOT EXISTS (SELECT 1 FROM requests WHERE request_id = evaluated.request_id AND state <> 'lost')";
/** The same, and for those that were reported: evaluated since, they are pending again, as when a gateway's older copy was put back. */
const IS_UNCLAIMED =
  "NOT EXISTS (SELECT 1 FROM requests WHERE request_id = evaluated.request_id AND state NOT IN ('lost', 'reported'))";

/**
 * Opens the table of verdicts in a journal's database; its writes belong to the journal's commits. What rests on settings that are others
 * now is due, and what was evaluated by a clock that has been set back since.
 *
 * @param options.nowMs - Unix time in milliseconds
 */
export function openEvaluationTable(
  database: DatabaseSync,
  { nowMs, digestSettings }: { readonly nowMs: number; readonly digestSettings: DigestSettings },
) {
  const upsert = database.prepare(
    `INSERT OR REPLACE INTO evaluated
       (request_id, signer, action, verdict, message, gap, gap_state, since, evaluated_at, recheck_at, pays_at, settings, waits_for, is_known_payer)
     VALUES (?, ?2, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, EXISTS (${KNOWN_PAYERS} AND signer = ?2))`,
  );
  const count = database.prepare('SELECT count(*) AS rows FROM evaluated');
  // Requests that are never looked at again go first, then those of signers that have not paid yet, the oldest of each.
  const prunes = ['recheck_at IS NULL OR pays_at <= 0', `signer NOT IN (${KNOWN_PAYERS})`, 'true'].map((which) =>
    database.prepare(
      `DELETE FROM evaluated WHERE request_id IN (SELECT request_id FROM evaluated WHERE ${which} ORDER BY evaluated_at LIMIT ?)`,
    ),
  );
  const prepareRecall = (which: string) => ({
    due: database.prepare(
      `SELECT request_id FROM evaluated WHERE recheck_at <= ? AND ${which} AND ${IS_UNCLAIMED} ORDER BY recheck_at`,
    ),
    cheap: database.prepare(
      `SELECT request_id FROM evaluated
       WHERE pays_at >= ? AND pays_at > 0 AND evaluated_at <= ? AND ${which} AND ${IS_UNCLAIMED} ORDER BY pays_at DESC`,
    ),
  });
  const [recallAll, recallKnown] = [prepareRecall('true'), prepareRecall('is_known_payer = 1')];
  const priced = database.prepare('SELECT 1 FROM evaluated WHERE pays_at > 0 LIMIT 1');
  const waitsForSigner = database.prepare(
    `SELECT 1 FROM evaluated WHERE signer = ? AND verdict IN ${ENDED_BY_SIGNER} LIMIT 1`,
  );
  const touch = database.prepare(
    `UPDATE evaluated SET recheck_at = 0 WHERE recheck_at IS NOT NULL AND request_id IN (SELECT request_id FROM evaluated
       WHERE signer = ? AND verdict IN ${ENDED_BY_SIGNER} ORDER BY evaluated_at DESC LIMIT ${MAX_TOUCHED})`,
  );
  const hold = database.prepare('UPDATE evaluated SET recheck_at = NULL, pays_at = NULL WHERE request_id = ?');
  const forgetLeft = database.prepare(
    "DELETE FROM evaluated WHERE request_id = ? AND verdict NOT IN ('ready', 'hopeless')",
  );
  const forget = database.prepare('DELETE FROM evaluated WHERE request_id = ?');
  const isLeft = database.prepare(
    `SELECT 1 FROM evaluated WHERE request_id = ? AND verdict NOT IN ('ready', 'hopeless')
       AND iif(recheck_at IS NULL, ${IS_FREE}, ${IS_UNCLAIMED})`,
  );
  const wait = database.prepare(
    'SELECT coalesce(waits_for, verdict) AS reason, gap, gap_state, since, recheck_at FROM evaluated WHERE request_id = ?',
  );
  const leftSince = database.prepare(
    `SELECT verdict, signer, evaluated_at, settings FROM evaluated
     WHERE evaluated_at > max(?, (SELECT coalesce(max(evaluated_at), 0) FROM evaluated WHERE verdict = 'ready')) AND ${IS_FREE}
     ORDER BY evaluated_at DESC LIMIT ${MAX_TOUCHED}`,
  );
  const expire = database.prepare(
    'UPDATE evaluated SET recheck_at = 0, pays_at = NULL WHERE verdict = ? AND settings <> ?',
  );
  const shift = database.prepare(
    'UPDATE evaluated SET since = since + ?1, evaluated_at = evaluated_at + ?1, recheck_at = recheck_at + ?1',
  );
  database
    .prepare(
      `UPDATE evaluated SET since = min(since, ?1), evaluated_at = ?1, recheck_at = iif(recheck_at IS NULL, NULL, 0)
       WHERE evaluated_at > ?1`,
    )
    .run(nowMs);
  for (const reason of listReasons()) expire.run(reason, digestSettings(reason));
  // The query has one row with this column.
  let rows = count.get()?.rows as number;
  return {
    write({ record, verdict, wait, sinceMs, recheckAtMs, nowMs }: EvaluatedRequest): void {
      const { requestId, signer, action } = record;
      const leave = verdict.kind === 'leave' ? verdict : undefined;
      const message = verdict.kind === 'ready' ? null : (verdict.errorMessage ?? null);
      const other = wait?.reason === leave?.reason ? undefined : wait;
      const own = { gap: leave?.gap === undefined ? null : nameGap(leave.gap), gapState: leave?.gapState ?? null };
      const { gap, gapState } = other ?? own;
      upsert.run(
        ...[requestId, signer.toLowerCase(), action, leave?.reason ?? verdict.kind, message],
        ...[gap, gapState, sinceMs, nowMs],
        ...[Number.isFinite(recheckAtMs) ? Math.floor(recheckAtMs) : null],
        ...[leave?.paysAtWei === undefined ? null : Number(leave.paysAtWei)],
        leave === undefined ? '' : digestSettings(leave.reason),
        other?.reason ?? null,
      );
      rows += 1;
      if (rows <= MAX_EVALUATED) return;
      // Some of them were written over.
      rows = count.get()?.rows as number;
      if (rows <= MAX_EVALUATED) return;
      let most = MAX_EVALUATED / 10;
      for (const prune of prunes) if (most > 0) most -= Number(prune.run(most).changes);
      rows = count.get()?.rows as number;
    },
    /** Requests whose time to be looked at again has come, or whose fee pays at a price of gas; the first ones, half of known payers. */
    recall({ nowMs, gasPrice, limit, isFull, isKnown }: RecallQuery): readonly string[] {
      const ids = new Set<string>();
      function take(found: Iterable<Record<string, unknown>>, most: number): void {
        for (const row of found) {
          if (ids.size >= most) return;
          // The column is the key.
          const id = row.request_id as string;
          if (!isKnown(id)) ids.add(id);
        }
      }
      function takeAll(kind: 'due' | 'cheap', given: readonly number[], most: number): void {
        take(recallKnown[kind].iterate(...given), isFull ? most : Math.ceil((ids.size + most) / 2));
        if (!isFull) take(recallAll[kind].iterate(...given), most);
      }
      takeAll('due', [nowMs], limit);
      if (gasPrice !== undefined) takeAll('cheap', [Number(gasPrice), nowMs - PRICED_MS], 2 * limit);
      return [...ids];
    },
    /** Whether some wait for gas to be cheaper. */
    waitsForPrice: (): boolean => priced.get() !== undefined,
    /** Whether anything is left that a transaction of a signer may end. @param signer - in lower case */
    waitsForSigner: (signer: string): boolean => waitsForSigner.get(signer) !== undefined,
    /** Has what a transaction of a signer may end looked at again at once. @param signer - in lower case */
    touch: (signer: string): void => void touch.run(signer),
    /** Moves all times: the clock was set by `byMs`. */
    shiftTimes: (byMs: number): void => void shift.run(byMs),
    /** Notes that a request is claimed: no queue looks at it again. */
    hold: (requestId: string): void => void hold.run(requestId),
    /** Notes that a request was reported: it waits for nothing any more. */
    end(requestId: string): void {
      forgetLeft.run(requestId);
      hold.run(requestId);
    },
    forget: (requestId: string): void => void forget.run(requestId),
    /** Whether a request was left when it was evaluated last, so that it is recalled when its time has come. */
    isLeft: (requestId: string): boolean => isLeft.get(requestId) !== undefined,
    /** Requests left since a time, and since a request was last taken, by settings as they are now; the newest ones. */
    leftSince: (sinceMs: number): LeftRequest[] =>
      leftSince.all(sinceMs).flatMap(({ verdict, signer, evaluated_at: atMs, settings }) => {
        // As `write` writes them.
        const reason = verdict as string;
        if (!isLeaveReason(reason) || settings !== digestSettings(reason)) return [];
        return [{ reason, signer: signer as string, atMs: atMs as number }];
      }),
    /** The reason for which a request was left last, or given up. @returns undefined if nothing was, or is known */
    wait(requestId: string): (Wait & { readonly recheckAtMs: number | null }) | undefined {
      const row = wait.get(requestId);
      const reason = row?.reason as string | undefined;
      if (row === undefined || reason === undefined || !isLeaveReason(reason)) return undefined;
      // As `write` writes them.
      return {
        reason,
        gap: row.gap as string | null,
        gapState: row.gap_state as GapState | null,
        sinceMs: row.since as number,
        recheckAtMs: row.recheck_at as number | null,
      };
    },
  };
}
