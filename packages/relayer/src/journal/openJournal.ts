import { migrateDatabase, openDatabase } from '@prism-gateway/node';
import { hexToBytes, toHex } from 'viem/utils';
import type { ExceededBudget, Loss } from '../budgets/loss.ts';
import type { DigestSettings } from '../checks/leaveReasons.ts';
import {
  assertMove,
  type BegunRequest,
  type LifeState,
  type Mover,
  type OpenRequest,
  type Outcome,
  type Submission,
} from '../lifecycle/states.ts';
import { createCommits } from './createCommits.ts';
import { createForgetting } from './createForgetting.ts';
import { createJournalView, type Totals } from './createJournalView.ts';
import { type EvaluatedRequest, openEvaluationTable } from './openEvaluationTable.ts';
import { openLossTable } from './openLossTable.ts';
import { JOURNAL_SCHEMA, type Row, readRow, writeFields } from './schema.ts';

/** Most intents whose bytes go at a time. */
const MAX_PRUNED = 500;
/** How long a process waits for another one's commit, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;
/** How often what is old is looked for, in milliseconds. */
const FORGET_EVERY_MS = 60_000;
/** The room that a disk must have before a journal that it refused is well again: nearly full, it takes one write and refuses the next. */
const PROBE = '0'.repeat(65_536);

/** A change of state, and what comes with it. */
export type JournalMove = { readonly requestId: string; readonly by: Mover; readonly nowMs: number } & (
  | { readonly to: 'claimed'; readonly intentId?: undefined }
  | { readonly to: 'finalized'; readonly outcome: Outcome }
  | { readonly to: 'reported' | 'lost' }
);

/** Whose move it is, and when. */
export interface MoveNote {
  readonly by: Mover;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** The relayer's memory: its claims, the submissions handed to the sender, and outcomes until they are reported. */
export type Journal = ReturnType<typeof openJournal>;

/** Transactions of the own key that are not its own. */
interface ForeignNote {
  readonly nonce: number;
  readonly transactions: number;
  readonly txHash: string | undefined;
  readonly atMs: number;
}

type SqlValue = string | number | null | Uint8Array;

/**
 * Opens the journal of one relayer on one chain.
 *
 * @param options.path - the SQLite file; made if it is missing
 * @param options.nowMs - Unix time in milliseconds
 * @param options.digestSettings - default: no verdict rests on any
 * @returns a journal whose changes are on the disk when they return
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function openJournal(options: {
  readonly path: string;
  readonly nowMs: number;
  readonly digestSettings?: DigestSettings;
}) {
  const database = openDatabase(options.path, { timeout: BUSY_TIMEOUT_MS });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;');
  migrateDatabase(database, [JOURNAL_SCHEMA]);
  const forgetOld = createForgetting(database);
  let forgottenAtMs = Number.NEGATIVE_INFINITY;
  let savedCursors: string | undefined;
  const { nowMs, digestSettings = () => '' } = options;
  const evaluationTable = openEvaluationTable(database, { nowMs, digestSettings });
  const lossTable = openLossTable(database);
  const view = createJournalView(database);
  const insertMove = database.prepare('INSERT INTO moves (request_id, state, mover, moved_at) VALUES (?, ?, ?, ?)');
  const insertCursor = database.prepare('INSERT INTO cursors (position, cursor) VALUES (?, ?)');
  const setTotal = database.prepare('INSERT OR REPLACE INTO totals (name, amount) VALUES (?, ?)');
  const insertForeign = database.prepare(
    'INSERT INTO foreign_transactions (nonce, transactions, tx_hash, found_at) VALUES (?, ?, ?, ?)',
  );
  const insertOutlier = database.prepare('INSERT INTO outlier_nodes (node, says, found_at) VALUES (?, ?, ?)');
  const insert = database.prepare(
    `INSERT INTO requests (request_id, state, record, signatures, gas, attempts, claimed_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const forget = database.prepare("DELETE FROM requests WHERE request_id = ? AND state IN ('reported', 'lost')");
  const select = database.prepare('SELECT * FROM requests WHERE request_id = ?');
  const selectOpen = database.prepare(
    "SELECT * FROM requests WHERE state NOT IN ('reported', 'lost') ORDER BY claimed_at, request_id",
  );
  const change = database.prepare(
    'UPDATE requests SET state = ?, intent_id = ?, attempts = ?, outcome = ?, updated_at = ? WHERE request_id = ?',
  );
  const shiftClaims = database.prepare(
    "UPDATE requests SET claimed_at = claimed_at + ? WHERE state NOT IN ('reported', 'lost')",
  );
  const insertSubmission = database.prepare(
    `INSERT INTO submissions (intent_id, call_to, data, gas_limit, request_ids, created_at, max_fee, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectPrunable = database.prepare(
    `SELECT intent_id FROM submissions WHERE data <> X'' AND NOT EXISTS (SELECT 1 FROM json_each(request_ids)
       JOIN requests ON request_id = value WHERE state NOT IN ('reported', 'lost')) ORDER BY created_at LIMIT ${MAX_PRUNED}`,
  );
  const prune = database.prepare("UPDATE submissions SET data = X'' WHERE intent_id = ?");
  const selectSubmission = database.prepare('SELECT * FROM submissions WHERE intent_id = ?');

  const commits = createCommits(database);
  const { write, writeNow } = commits;
  writeNow(() => forgetOld(nowMs));

  // The columns are the schema's own.
  const find = (requestId: string) => select.get(requestId) as unknown as Row | undefined;

  function update(
    move: MoveNote & { requestId: string; to: LifeState },
    fields: Partial<Record<keyof Row, SqlValue>>,
  ): void {
    const { requestId, to, by, nowMs } = move;
    const row = find(requestId);
    if (row === undefined) throw new TypeError(`request ${requestId} is not in the journal`);
    assertMove({ requestId, from: row.state, to, by });
    const next = { ...row, ...fields };
    change.run(to, next.intent_id, next.attempts, next.outcome, nowMs, requestId);
    insertMove.run(requestId, to, by, nowMs);
  }

  function start(
    request: BegunRequest,
    { from, to, by }: { from: LifeState; to: 'claiming' | 'claimed'; by: Mover },
  ): void {
    const { record, signatures, gas } = writeFields(request);
    const { requestId, claimedAtMs } = request;
    assertMove({ requestId, from, to, by });
    // Counted on from an earlier claim: the intents of its sendings are used already, here and by the sender.
    const attempts = find(requestId)?.attempts ?? 0;
    forget.run(requestId);
    insert.run(requestId, to, record, signatures, gas, attempts, claimedAtMs, claimedAtMs);
    insertMove.run(requestId, to, by, claimedAtMs);
    evaluationTable.hold(requestId);
  }

  function recordSubmission(submission: Submission, note: MoveNote): void {
    const { intentId, to, data, gasLimit, requestIds, maxFeePerGas, expiresAtMs } = submission;
    const bounds = [maxFeePerGas === undefined ? null : String(maxFeePerGas), expiresAtMs ?? null];
    insertSubmission.run(
      intentId,
      to,
      hexToBytes(data),
      String(gasLimit),
      JSON.stringify(requestIds),
      note.nowMs,
      ...bounds,
    );
    for (const requestId of requestIds) {
      const attempts = (find(requestId)?.attempts ?? 0) + 1;
      update({ ...note, requestId, to: 'submitted' }, { intent_id: intentId, attempts });
    }
  }

  function makeMoves(moves: readonly JournalMove[]): void {
    for (const move of moves) {
      const fields = move.to === 'finalized' ? { outcome: JSON.stringify(move.outcome) } : {};
      update(move, move.to === 'claimed' ? { intent_id: null } : fields);
      if (move.to === 'reported') evaluationTable.end(move.requestId);
    }
  }

  function addTotals(more: Totals): void {
    const totals = view.totals();
    for (const name of ['spentWei', 'earnedCredits', 'transactions'] as const) {
      setTotal.run(name, String(totals[name] + more[name]));
    }
  }

  return {
    /** The readable part of it. */
    view,
    /** Notes the intention to claim, on the disk before it returns; of a request that had ended the attempts count on. */
    begin: (requests: readonly BegunRequest[], by: Mover): void =>
      writeNow(() => requests.forEach((request) => void start(request, { from: 'checked', to: 'claiming', by }))),
    /** Notes a claim that the gateway knows and the journal did not. */
    adopt: (request: BegunRequest): void =>
      writeNow(() => start(request, { from: 'seen', to: 'claimed', by: 'adoptClaims' })),
    /** Notes calls before the sender gets them, on the disk before it returns; all their requests become `submitted`. */
    submit: (submissions: readonly Submission[], note: MoveNote): void =>
      writeNow(() => submissions.forEach((each) => void recordSubmission(each, note))),
    /**
     * Makes moves, all or none; on the disk a moment later, as all below. A crash may undo them: from the state before, gateway and chain
     * lead to the same state again.
     */
    move: (moves: readonly JournalMove[]): void => write(() => makeMoves(moves)),
    /** Notes verdicts, of requests that are claimed or not. */
    recordVerdicts(evaluated: readonly EvaluatedRequest[]): void {
      if (evaluated.length > 0) write(() => evaluated.forEach((each) => void evaluationTable.write(each)));
    },
    recall: evaluationTable.recall,
    waitsForPrice: evaluationTable.waitsForPrice,
    /** Has what a transaction of a signer may end looked at again at once. @param signer - in lower case */
    touch(signer: string): void {
      if (evaluationTable.waitsForSigner(signer)) write(() => evaluationTable.touch(signer));
    },
    wait: evaluationTable.wait,
    forgetVerdict: (requestId: string): void => write(() => evaluationTable.forget(requestId)),
    isLeft: evaluationTable.isLeft,
    leftSince: evaluationTable.leftSince,
    /** How far the feed has been evaluated, oldest first. */
    cursors: (): readonly string[] =>
      database
        .prepare('SELECT cursor FROM cursors ORDER BY position')
        .all()
        .map((row) => row.cursor as string),
    saveCursors(cursors: readonly string[]): void {
      // A quiet feed stays at one place.
      if (savedCursors === cursors.join()) return;
      write(() => {
        database.exec('DELETE FROM cursors');
        for (const [position, cursor] of cursors.entries()) insertCursor.run(position, cursor);
      });
      savedCursors = cursors.join();
    },
    /** Notes what was lost, and to whom. */
    addLosses: (losses: readonly Loss[]): void => write(() => lossTable.add(losses)),
    losses: lossTable.since,
    /** Notes what a request has paid beyond its cost, in wei. */
    addPaid: (signers: readonly string[], wei: bigint): void => write(() => lossTable.addPaid(signers, wei)),
    paidNet: lossTable.paidNet,
    hasKnownPayers: lossTable.hasKnownPayers,
    /** Notes for people that a budget is used up. */
    recordExceeded: (exceeded: ExceededBudget): void => write(() => lossTable.recordExceeded(exceeded)),
    /** Notes transactions of the own key that are not its own. @param found.nonce - of the last of them */
    recordForeign: ({ nonce, transactions, txHash, atMs }: ForeignNote): void =>
      write(() => void insertForeign.run(nonce, transactions, txHash ?? null, atMs)),
    /** Notes for people that a node is alone with what it says. */
    recordOutlier: ({
      node,
      says,
      atMs,
    }: {
      readonly node: string;
      readonly says: string;
      readonly atMs: number;
    }): void => write(() => void insertOutlier.run(node, says, atMs)),
    /** Adds to what was spent and earned in all. */
    addTotals: (more: Totals): void => write(() => addTotals(more)),
    get(requestId: string): OpenRequest | undefined {
      const row = find(requestId);
      return row === undefined || row.state === 'reported' || row.state === 'lost' ? undefined : readRow(row);
    },
    /** When a claim was lost to another relayer; undefined: it was not, or is held again. */
    lostAtMs(requestId: string): number | undefined {
      const row = find(requestId);
      return row?.state === 'lost' ? row.updated_at : undefined;
    },
    submission(intentId: string): Submission | undefined {
      const row = selectSubmission.get(intentId);
      if (row === undefined) return undefined;
      return {
        intentId,
        // Written by `submit` alone.
        to: row.call_to as `0x${string}`,
        data: toHex(row.data as Uint8Array),
        gasLimit: BigInt(row.gas_limit as string),
        maxFeePerGas: row.max_fee === null ? undefined : BigInt(row.max_fee as string),
        expiresAtMs: (row.expires_at as number | null) ?? undefined,
        requestIds: JSON.parse(row.request_ids as string) as string[],
      };
    },
    /** Intents whose requests have all ended, and whose bytes are still here; oldest first, some of them. */
    listPrunable: (): readonly string[] => selectPrunable.all().map((row) => row.intent_id as string),
    /** Drops the bytes of intents. */
    prune: (intentIds: readonly string[]): void =>
      write(() => intentIds.forEach((intentId) => void prune.run(intentId))),
    /** Requests that have not ended, oldest claim first. The columns are the schema's own. */
    open: (): readonly OpenRequest[] => (selectOpen.all() as unknown as Row[]).map(readRow),
    /** Whether it could not be written when that was tried last. */
    isFailing: commits.isFailing,
    /** Forgets some of what ended a week before; to be called now and then. @param nowMs - Unix time in milliseconds */
    forgetOld(nowMs: number): void {
      // Writes that are not on the disk yet are kept in memory, and so would this one be.
      if (commits.isFailing() || nowMs - forgottenAtMs < FORGET_EVERY_MS) return;
      forgottenAtMs = nowMs;
      write(() => forgetOld(nowMs));
    },
    /** Moves the times of what has not ended: the clock was set by `byMs`. What had waited for a minute still has. */
    shiftTimes: (byMs: number): void =>
      write(() => {
        evaluationTable.shiftTimes(byMs);
        // Ahead it may have been a sleep, in which the lease went on.
        if (byMs < 0) shiftClaims.run(byMs);
      }),
    /** Tries whether it can be written, and changes nothing. @throws FileGoneError FILE_GONE; Error of SQLite */
    probe(): void {
      commits.commit();
      // After a failure a write is tried: a full disk lets a transaction begin.
      if (commits.isFailing()) {
        for (const amount of [PROBE, '0']) writeNow(() => void setTotal.run('probe', amount));
      } else database.exec('BEGIN IMMEDIATE; ROLLBACK');
    },
    close(): void {
      try {
        commits.commit();
      } finally {
        database.close();
      }
    },
  };
}
