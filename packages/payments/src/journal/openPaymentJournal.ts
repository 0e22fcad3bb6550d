import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { commitTogether, createOutboxTable, type OutboxTable } from '@prism-gateway/alerts';
import { DirectoryError, makeDirectory, openDatabase as openFile } from '@prism-gateway/runtime';
import type { Address, Hash } from 'viem';
import { type BroadcastTable, createBroadcastTable } from './createBroadcastTable.ts';
import { createMarkTable, type MarkTable } from './createMarkTable.ts';
import { createToldTable, type ToldTable } from './createToldTable.ts';
import { JournalFileError } from './journalErrors.ts';
import type { Attempt, Payment, PaymentMove } from './payment.ts';
import { assertMove, type PaymentState } from './paymentState.ts';
import { readAttempt, readMove, readPayment, writeMined } from './rows.ts';
import { makeTables } from './schema.ts';

/** What a move changes besides the state; a field that is absent stays. */
export interface MoveChanges {
  /** Absent: none. */
  readonly reason?: string;
  readonly creditsOwed?: bigint;
  /** Credits for one stablecoin, by which that was settled. */
  readonly rate?: bigint;
  readonly txHash?: Hash;
  readonly paidBy?: Address;
  /** Null: no longer counted. */
  readonly countedDay?: string | null;
  /** A call to journal in the same commit. */
  readonly attempt?: Pick<Attempt, 'intentId' | 'kind' | 'to' | 'data'>;
  /** How the open attempt ended, in the same commit. */
  readonly settled?: Pick<Attempt, 'intentId' | 'txHash' | 'mined'> & { readonly state: 'done' | 'void' };
}

/** What a person has decided. */
export interface PersonsDecision {
  readonly atMs: number;
  readonly act: string;
  readonly who: string;
  readonly why: string;
}

/** The durable memory of the payment relayer; every write has reached the disk when it returns. */
export interface PaymentJournal {
  readonly marks: MarkTable;
  readonly broadcasts: BroadcastTable;
  readonly outbox: OutboxTable;
  readonly told: ToldTable;
  /** Runs some writes as one commit, those of the tables among them. */
  commit<Result>(write: () => Result): Result;
  /** Writes down a payment that was never listed before, as `seen`. */
  add(payment: { paymentIntentId: string; walletAddress: Address; stablecoinAmount: bigint }): Payment;
  get(paymentIntentId: string): Payment | undefined;
  /** Payments in some states, oldest first; all when none is named. */
  list(states?: readonly PaymentState[]): readonly Payment[];
  /** Payments that are not begun, and that the frontend lists as far as is known; oldest first. What others pay is listed no more. */
  listWaiting(): readonly Payment[];
  /** Whether the frontend lists a payment. */
  setListed(paymentIntentId: string, isListed: boolean): void;
  /**
   * Moves a payment.
   *
   * @throws PaymentMoveError for a move that the machine does not have
   */
  move(paymentIntentId: string, to: PaymentState, changes?: MoveChanges): Payment;
  /** Attempts of a payment, oldest first. */
  attemptsOf(paymentIntentId: string): readonly Attempt[];
  /** Whether a call of this name at the sender was journalled. */
  hasAttempt(intentId: string): boolean;
  /** Payments that were paid, and whose payout a reorganisation may still undo, oldest first. */
  listWatched(): readonly Payment[];
  /** A payout is there for good. */
  unwatch(paymentIntentId: string): void;
  /** Moves of a payment, oldest first. */
  movesOf(paymentIntentId: string): readonly PaymentMove[];
  /** The newest move of all; 0: there is none. */
  lastMove(): number;
  /** Moves to a state after one, oldest first, with their payments. */
  listMovesTo(
    to: PaymentState,
    after: number,
  ): readonly { readonly moveId: number; readonly atMs: number; readonly payment: Payment }[];
  /** What counts against a day of UTC, in base units. */
  spentOn(day: string): { readonly stablecoins: bigint; readonly credits: bigint };
  /** How many payments are in each state. */
  countStates(): ReadonlyMap<PaymentState, number>;
  /** Forgets a payment that was never begun, so that it is listed as if for the first time; its moves stay. */
  forget(paymentIntentId: string): void;
  /** Keeps what a person has decided: who, when and why. */
  decide(decision: { paymentIntentId: string; act: string; who: string; why: string }): void;
  /** Decisions about a payment, oldest first; about all payments when none is named. */
  decisionsOf(paymentIntentId: string): readonly PersonsDecision[];
  /** Writes a copy of the whole file, while it is in use. */
  backUp(file: string): void;
  fact(name: string): string | undefined;
  setFact(name: string, value: string): void;
  clearFact(name: string): void;
  close(): void;
}

function prepare(database: DatabaseSync) {
  return {
    insert: database.prepare(
      `INSERT INTO payments (payment_intent_id, wallet_address, stablecoin_amount, state, seen_at_ms, updated_at_ms)
       VALUES (?, ?, ?, 'seen', ?, ?)`,
    ),
    get: database.prepare('SELECT * FROM payments WHERE payment_intent_id = ?'),
    all: database.prepare('SELECT * FROM payments ORDER BY seen_at_ms, rowid'),
    waiting: database.prepare(
      `SELECT * FROM payments WHERE state IN ('seen', 'given back')
       AND NOT EXISTS (SELECT 1 FROM facts WHERE name = 'unlisted:' || payment_intent_id) ORDER BY seen_at_ms, rowid`,
    ),
    watch: database.prepare('INSERT INTO watched VALUES (?) ON CONFLICT DO NOTHING'),
    unwatch: database.prepare('DELETE FROM watched WHERE payment_intent_id = ?'),
    watched: database.prepare(
      'SELECT * FROM payments WHERE payment_intent_id IN (SELECT payment_intent_id FROM watched) ORDER BY seen_at_ms, rowid',
    ),
    byState: database.prepare('SELECT * FROM payments WHERE state = ? ORDER BY seen_at_ms, rowid'),
    update: database.prepare(
      `UPDATE payments SET state = ?, reason = ?, credits_owed = ?, attempts = ?, tx_hash = ?, paid_by = ?,
       counted_day = ?, rate = coalesce(?, rate), updated_at_ms = ? WHERE payment_intent_id = ?`,
    ),
    insertMove: database.prepare(
      'INSERT INTO moves (payment_intent_id, at_ms, from_state, to_state, reason) VALUES (?, ?, ?, ?, ?)',
    ),
    moves: database.prepare('SELECT * FROM moves WHERE payment_intent_id = ? ORDER BY id'),
    lastMove: database.prepare('SELECT max(id) AS id FROM moves'),
    movesTo: database.prepare(
      `SELECT moves.id AS move_id, moves.at_ms AS at_ms, payments.* FROM moves
       JOIN payments ON payments.payment_intent_id = moves.payment_intent_id
       WHERE moves.id > ? AND moves.to_state = ? ORDER BY moves.id`,
    ),
    insertAttempt: database.prepare(
      `INSERT INTO attempts (intent_id, payment_intent_id, kind, to_address, data, state) VALUES (?, ?, ?, ?, ?, 'open')`,
    ),
    settleAttempt: database.prepare('UPDATE attempts SET state = ?, tx_hash = ?, mined = ? WHERE intent_id = ?'),
    attempts: database.prepare('SELECT * FROM attempts WHERE payment_intent_id = ? ORDER BY rowid'),
    attempt: database.prepare('SELECT 1 FROM attempts WHERE intent_id = ?'),
    counted: database.prepare('SELECT * FROM payments WHERE counted_day = ?'),
    states: database.prepare('SELECT state, count(*) AS count FROM payments GROUP BY state'),
    forget: database.prepare('DELETE FROM payments WHERE payment_intent_id = ?'),
    decide: database.prepare('INSERT INTO decisions (payment_intent_id, at_ms, act, who, why) VALUES (?, ?, ?, ?, ?)'),
    decisions: database.prepare('SELECT * FROM decisions WHERE payment_intent_id = ? ORDER BY id'),
    backUp: database.prepare('VACUUM INTO ?'),
    fact: database.prepare('SELECT value FROM facts WHERE name = ?'),
    clearFact: database.prepare('DELETE FROM facts WHERE name = ?'),
    setFact: database.prepare(
      'INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    ),
  };
}

function createWrites(database: DatabaseSync, statements: ReturnType<typeof prepare>, now: () => number) {
  function get(paymentIntentId: string): Payment | undefined {
    const row = statements.get.get(paymentIntentId);
    return row === undefined ? undefined : readPayment(row);
  }

  function mustGet(paymentIntentId: string): Payment {
    const payment = get(paymentIntentId);
    if (payment === undefined) throw new TypeError(`the journal has no payment ${paymentIntentId}`);
    return payment;
  }

  function update(payment: Payment, to: PaymentState, changes: MoveChanges): void {
    const { attempt, settled, countedDay = payment.countedDay ?? null } = changes;
    const id = payment.paymentIntentId;
    const owed = changes.creditsOwed ?? payment.creditsOwed;
    statements.update.run(
      to,
      changes.reason ?? null,
      owed === undefined ? null : `${owed}`,
      payment.attempts + (attempt === undefined ? 0 : 1),
      changes.txHash ?? payment.txHash ?? null,
      changes.paidBy ?? payment.paidBy ?? null,
      countedDay,
      changes.rate === undefined ? null : `${changes.rate}`,
      now(),
      id,
    );
    statements.insertMove.run(id, now(), payment.state, to, changes.reason ?? null);
    if (attempt !== undefined) {
      statements.insertAttempt.run(attempt.intentId, id, attempt.kind, attempt.to, attempt.data);
    }
    if (to === 'transferred') statements.watch.run(id);
    if (settled !== undefined) {
      const { state, txHash = null, mined } = settled;
      statements.settleAttempt.run(state, txHash, mined === undefined ? null : writeMined(mined), settled.intentId);
    }
  }

  return {
    get,
    add({ paymentIntentId, walletAddress, stablecoinAmount }: Parameters<PaymentJournal['add']>[0]): Payment {
      return commitTogether(database, () => {
        statements.insert.run(paymentIntentId, walletAddress, `${stablecoinAmount}`, now(), now());
        statements.insertMove.run(paymentIntentId, now(), null, 'seen', null);
        return mustGet(paymentIntentId);
      });
    },
    move(paymentIntentId: string, to: PaymentState, changes: MoveChanges = {}): Payment {
      return commitTogether(database, () => {
        const payment = mustGet(paymentIntentId);
        assertMove({ paymentIntentId, from: payment.state, to });
        update(payment, to, changes);
        return mustGet(paymentIntentId);
      });
    },
  };
}

/** @throws JournalFileError */
function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    makeDirectory(dirname(file));
    // Wallets and amounts are nobody else's business.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    database = openFile(file, { timeout: 5000 });
    makeTables(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof DirectoryError) throw new JournalFileError(file, error.reason);
    throw new JournalFileError(file, error instanceof Error ? error.message.replace(/\.$/, '') : 'unknown');
  }
}

/**
 * Opens the journal: SQLite, each commit synced to the disk.
 *
 * @param options - the file, made where it is missing with its folder, and the clock in milliseconds
 * @returns the journal
 * @throws JournalFileError `JOURNAL_UNUSABLE`
 * @see https://sqlite.org/wal.html
 */
export function openPaymentJournal(options: { readonly file: string; readonly now: () => number }): PaymentJournal {
  const database = openDatabase(options.file);
  const statements = prepare(database);
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  return {
    marks: createMarkTable(database),
    broadcasts: createBroadcastTable(database),
    outbox: createOutboxTable(database, { now: options.now, commit }),
    told: createToldTable(database, options.now),
    commit,
    ...createWrites(database, statements, options.now),
    list(states) {
      if (states === undefined) return statements.all.all().map(readPayment);
      const payments = states.flatMap((state) => statements.byState.all(state).map(readPayment));
      return payments.toSorted((one, other) => one.seenAtMs - other.seenAtMs);
    },
    listWaiting: () => statements.waiting.all().map(readPayment),
    setListed(paymentIntentId, isListed) {
      const name = `unlisted:${paymentIntentId}`;
      if (!isListed) statements.setFact.run(name, 'by the frontend');
      else if (statements.fact.get(name) !== undefined) statements.clearFact.run(name);
    },
    attemptsOf: (paymentIntentId) => statements.attempts.all(paymentIntentId).map(readAttempt),
    hasAttempt: (intentId) => statements.attempt.get(intentId) !== undefined,
    listWatched: () => statements.watched.all().map(readPayment),
    unwatch: (paymentIntentId) => void statements.unwatch.run(paymentIntentId),
    movesOf: (paymentIntentId) => statements.moves.all(paymentIntentId).map(readMove),
    lastMove: () => Number(statements.lastMove.get()?.id ?? 0),
    listMovesTo: (to, after) =>
      statements.movesTo
        .all(after, to)
        .map((row) => ({ moveId: Number(row.move_id), atMs: Number(row.at_ms), payment: readPayment(row) })),
    spentOn(day) {
      const payments = statements.counted.all(day).map(readPayment);
      return {
        stablecoins: payments.reduce((sum, { stablecoinAmount }) => sum + stablecoinAmount, 0n),
        credits: payments.reduce((sum, { creditsOwed = 0n }) => sum + creditsOwed, 0n),
      };
    },
    // Only states of the machine are written.
    countStates: () => new Map(statements.states.all().map((row) => [row.state as PaymentState, Number(row.count)])),
    forget: (paymentIntentId) => void statements.forget.run(paymentIntentId),
    decide: ({ paymentIntentId, act, who, why }) =>
      void statements.decide.run(paymentIntentId, options.now(), act, who, why),
    decisionsOf: (paymentIntentId) =>
      statements.decisions.all(paymentIntentId).map((row) => ({
        atMs: Number(row.at_ms),
        act: `${row.act}`,
        who: `${row.who}`,
        why: `${row.why}`,
      })),
    backUp: (file) => void statements.backUp.run(file),
    fact(name) {
      const value = statements.fact.get(name)?.value;
      return typeof value === 'string' ? value : undefined;
    },
    setFact: (name, value) => void statements.setFact.run(name, value),
    clearFact: (name) => void statements.clearFact.run(name),
    close: () => database.close(),
  };
}
