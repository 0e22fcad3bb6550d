import { migrateDatabase, openDatabase } from '@prism-gateway/runtime';
import type { ExceededBudget, Loss } from '../budgets/loss.ts';
import { assertMove, type LifeState, type Mover } from '../lifecycle/lifecycle.ts';
import type { BegunRequest, OpenRequest, Outcome, Submission } from '../lifecycle/openRequest.ts';
import { createCommits } from './createCommits.ts';
import { createForgetting } from './createForgetting.ts';
import { createJournalView, type JournalView, type Totals } from './createJournalView.ts';
import { type JudgedRequest, openJudgedTable, type RecallQuery } from './openJudgedTable.ts';
import { openLossTable } from './openLossTable.ts';
import { JOURNAL_SCHEMA, type Row, readRow, writeFields } from './schema.ts';

/** How long a process waits for another one's commit, in milliseconds. */
const BUSY_TIMEOUT_MS = 5000;

/** A change of state, and what comes with it. */
export type JournalMove = { readonly requestId: string; readonly by: Mover; readonly nowMs: number } & (
  | { readonly to: 'claimed'; readonly intentId?: undefined }
  | { readonly to: 'mined'; readonly outcome: Outcome }
  | { readonly to: 'reported' | 'lost' }
);

/** Whose move it is, and when. */
export interface MoveNote {
  readonly by: Mover;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** What the relayer promises to remember: its claims, what it handed to the sender, and outcomes until they are reported. */
export interface Journal {
  /** What people may read of it. */
  readonly view: JournalView;
  /** Notes the intention to claim, on the disk before it returns; what stood there of a request that had ended is replaced, but its attempts count on. */
  begin(requests: readonly BegunRequest[], by: Mover): void;
  /** Notes a claim that the gateway knows and the journal did not. */
  adopt(request: BegunRequest): void;
  /** Notes calls before the sender gets them, on the disk before it returns; all their requests become `submitted`. */
  submit(submissions: readonly Submission[], note: MoveNote): void;
  /**
   * Makes moves, all or none; on the disk a moment later. A crash may undo them: from the state before, gateway and chain lead to the
   * same state again.
   */
  move(moves: readonly JournalMove[]): void;
  /** Notes verdicts, of requests that are claimed or not; on the disk a moment later. */
  judge(judged: readonly JudgedRequest[]): void;
  /** Ids of requests that were judged, and are to be looked at again. @see JudgedTable */
  recall(when: RecallQuery): readonly string[];
  postpone(requestIds: readonly string[], untilMs: number): void;
  /** Whether a request was left when it was judged last, and is recalled when its time has come. */
  isLeft(requestId: string): boolean;
  forgetVerdict(requestId: string): void;
  /** How far the feed has been judged, oldest first. */
  cursors(): readonly string[];
  saveCursors(cursors: readonly string[]): void;
  /** Notes what was lost, and to whom; on the disk a moment later. */
  addLosses(losses: readonly Loss[]): void;
  /** Losses since a time, oldest first. */
  losses(sinceMs: number): readonly Loss[];
  /** Notes signers that have paid for a transaction. */
  addCustomers(signers: readonly string[]): void;
  isCustomer(signer: string): boolean;
  /** Whether anybody has paid for a transaction. */
  hasCustomers(): boolean;
  /** Notes for people that a budget is used up. */
  noteExceeded(exceeded: ExceededBudget): void;
  /** Notes transactions of the own key that are not its own. @param found.nonce - of the last of them */
  noteForeign(found: {
    readonly nonce: number;
    readonly transactions: number;
    readonly txHash: string | undefined;
    readonly atMs: number;
  }): void;
  /** Notes for people that a node is alone with what it says. */
  noteOutvoted(found: { readonly node: string; readonly says: string; readonly atMs: number }): void;
  /** Adds to what was spent and earned in all; on the disk a moment later. */
  addTotals(more: Totals): void;
  get(requestId: string): OpenRequest | undefined;
  submission(intentId: string): Submission | undefined;
  /** Requests that have not ended, oldest claim first. */
  open(): readonly OpenRequest[];
  /** Forgets some of what ended a week before; to be called now and then. @param nowMs - Unix time in milliseconds */
  forgetOld(nowMs: number): void;
  /** Whether it could not be written when that was tried last. */
  isFailing(): boolean;
  /** Tries whether it can be written, and changes nothing. @throws FileGoneError FILE_GONE; Error of SQLite */
  probe(): void;
  close(): void;
}

type SqlValue = string | number | null;

/**
 * Opens the journal of one relayer on one chain.
 *
 * @param options.path - the SQLite file; made where it is missing
 * @param options.nowMs - Unix time in milliseconds
 * @returns a journal whose changes are on the disk when they return
 * @see https://sqlite.org/pragma.html#pragma_synchronous
 */
export function openJournal(options: { readonly path: string; readonly nowMs: number }): Journal {
  const database = openDatabase(options.path, { timeout: BUSY_TIMEOUT_MS });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;');
  migrateDatabase(database, [JOURNAL_SCHEMA]);
  const forgetOld = createForgetting(database);
  const judgedTable = openJudgedTable(database);
  const lossTable = openLossTable(database);
  const view = createJournalView(database);
  const insertMove = database.prepare('INSERT INTO moves (request_id, state, mover, moved_at) VALUES (?, ?, ?, ?)');
  const insertCursor = database.prepare('INSERT INTO cursors (position, cursor) VALUES (?, ?)');
  const setTotal = database.prepare('INSERT OR REPLACE INTO totals (name, amount) VALUES (?, ?)');
  const insertForeign = database.prepare(
    'INSERT INTO foreign_transactions (nonce, transactions, tx_hash, found_at) VALUES (?, ?, ?, ?)',
  );
  const insertOutvoted = database.prepare('INSERT INTO outvoted_nodes (node, says, found_at) VALUES (?, ?, ?)');
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
  const insertSubmission = database.prepare(
    `INSERT INTO submissions (intent_id, call_to, data, gas_limit, request_ids, created_at, max_fee, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectSubmission = database.prepare('SELECT * FROM submissions WHERE intent_id = ?');

  const commits = createCommits(database);
  const { write, writeNow } = commits;
  writeNow(() => forgetOld(options.nowMs));

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
  }

  function noteSubmission(submission: Submission, note: MoveNote): void {
    const { intentId, to, data, gasLimit, requestIds, maxFeePerGas, expiresAtMs } = submission;
    const bounds = [maxFeePerGas === undefined ? null : String(maxFeePerGas), expiresAtMs ?? null];
    insertSubmission.run(intentId, to, data, String(gasLimit), JSON.stringify(requestIds), note.nowMs, ...bounds);
    for (const requestId of requestIds) {
      const attempts = (find(requestId)?.attempts ?? 0) + 1;
      update({ ...note, requestId, to: 'submitted' }, { intent_id: intentId, attempts });
    }
  }

  function makeMoves(moves: readonly JournalMove[]): void {
    for (const move of moves) {
      const fields = move.to === 'mined' ? { outcome: JSON.stringify(move.outcome) } : {};
      update(move, move.to === 'claimed' ? { intent_id: null } : fields);
    }
  }

  function addTotals(more: Totals): void {
    const totals = view.totals();
    for (const name of ['spentWei', 'earnedCredits', 'transactions'] as const) {
      setTotal.run(name, String(totals[name] + more[name]));
    }
  }

  return {
    view,
    begin: (requests, by) =>
      writeNow(() => requests.forEach((request) => void start(request, { from: 'checked', to: 'claiming', by }))),
    adopt: (request) => writeNow(() => start(request, { from: 'seen', to: 'claimed', by: 'adoptClaims' })),
    submit: (submissions, note) => writeNow(() => submissions.forEach((each) => void noteSubmission(each, note))),
    move: (moves) => write(() => makeMoves(moves)),
    judge: (judged) => write(() => judged.forEach((each) => void judgedTable.write(each))),
    recall: (when) => judgedTable.recall(when),
    postpone(ids, untilMs) {
      if (ids.length > 0) write(() => judgedTable.postpone(ids, untilMs));
    },
    forgetVerdict: (requestId) => write(() => judgedTable.forget(requestId)),
    isLeft: judgedTable.isLeft,
    cursors: () =>
      database
        .prepare('SELECT cursor FROM cursors ORDER BY position')
        .all()
        .map((row) => row.cursor as string),
    saveCursors: (cursors) =>
      write(() => {
        database.exec('DELETE FROM cursors');
        for (const [position, cursor] of cursors.entries()) insertCursor.run(position, cursor);
      }),
    addLosses: (losses) => write(() => lossTable.add(losses)),
    losses: lossTable.since,
    addCustomers: (signers) => write(() => lossTable.addCustomers(signers)),
    isCustomer: lossTable.isCustomer,
    hasCustomers: lossTable.hasCustomers,
    noteExceeded: (exceeded) => write(() => lossTable.noteExceeded(exceeded)),
    noteForeign: ({ nonce, transactions, txHash, atMs }) =>
      write(() => void insertForeign.run(nonce, transactions, txHash ?? null, atMs)),
    noteOutvoted: ({ node, says, atMs }) => write(() => void insertOutvoted.run(node, says, atMs)),
    addTotals: (more) => write(() => addTotals(more)),
    get(requestId) {
      const row = find(requestId);
      return row === undefined || row.state === 'reported' || row.state === 'lost' ? undefined : readRow(row);
    },
    submission(intentId) {
      const row = selectSubmission.get(intentId);
      if (row === undefined) return undefined;
      return {
        intentId,
        // Written by `submit` alone.
        to: row.call_to as `0x${string}`,
        data: row.data as `0x${string}`,
        gasLimit: BigInt(row.gas_limit as string),
        maxFeePerGas: row.max_fee === null ? undefined : BigInt(row.max_fee as string),
        expiresAtMs: (row.expires_at as number | null) ?? undefined,
        requestIds: JSON.parse(row.request_ids as string) as string[],
      };
    },
    // The columns are the schema's own.
    open: () => (selectOpen.all() as unknown as Row[]).map(readRow),
    isFailing: commits.isFailing,
    forgetOld(nowMs) {
      // What is not on the disk yet is kept in memory, and so would this be.
      if (!commits.isFailing()) write(() => forgetOld(nowMs));
    },
    probe() {
      commits.commit();
      // What failed once is tried by a write: a full disk lets a transaction begin.
      if (commits.isFailing()) writeNow(() => void setTotal.run('probe', '0'));
      else database.exec('BEGIN IMMEDIATE; ROLLBACK');
    },
    close() {
      try {
        commits.commit();
      } finally {
        database.close();
      }
    },
  };
}
