import { chmodSync, closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DirectoryError, makeDirectory, openDatabase as openFile } from '@prism-gateway/node';
import { commitTogether, createOutboxTable, type OutboxTable } from '@prism-gateway/node/alerts';
import type { Address } from 'viem';
import { type AlertedTable, createAlertedTable } from './createAlertedTable.ts';
import { type BroadcastTable, createBroadcastTable } from './createBroadcastTable.ts';
import { createTransferTable, type TransferTable } from './createTransferTable.ts';
import type { Attempt, Payment, PaymentMove } from './payment.ts';
import { OPEN_STATES, type PaymentState } from './paymentState.ts';
import { createWrites, type MoveChanges, type NewPayment, prepare, type RefusedPayment } from './paymentWrites.ts';
import { readAttempt, readMove, readPayment } from './rows.ts';
import { makeTables } from './schema.ts';

/** A person's decision. */
export interface PersonsDecision {
  readonly atMs: number;
  readonly act: string;
  readonly who: string;
  readonly why: string;
}

/** The durable memory of the payment relayer; every write has reached the disk when it returns. */
export interface PaymentJournal {
  readonly transfers: TransferTable;
  readonly broadcasts: BroadcastTable;
  readonly outbox: OutboxTable;
  readonly alerted: AlertedTable;
  /** Runs some writes as one commit, those of the tables among them. */
  commit<Result>(write: () => Result): Result;
  /** Writes down a payment that was never listed before, as `seen`. */
  add(payment: NewPayment): Payment;
  /** Writes down a payment that was never listed before, and is refused as it is; what is unfit of it is left out. */
  addRefused(payment: RefusedPayment): void;
  get(paymentIntentId: string): Payment | undefined;
  /** Payments by intent, wallet, or a transaction of theirs. */
  find(words: string): readonly Payment[];
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
  /** Calls at the sender of attempts that are final, which still have their data; some at a time, oldest first. */
  listPrunable(): readonly string[];
  /** Drops the data of a final attempt. */
  dropCall(intentId: string): void;
  /** Payments that were paid, and whose payout a reorganisation may still undo, oldest first. */
  listWatched(): readonly Payment[];
  /** Wallets to which payouts of this or any instance may go or have gone, of payments that are not over; lower case. */
  listWallets(): readonly Address[];
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
  /** Amounts that count against a day of UTC, in base units. */
  spentOn(day: string): { readonly stablecoins: bigint; readonly credits: bigint; readonly completed: number };
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

/** The journal's file or folder cannot be used. */
export class JournalFileError extends Error {
  override readonly name = 'JournalFileError';
  readonly code = 'JOURNAL_UNUSABLE';

  constructor(file: string, reason: string) {
    super(
      `The journal ${file} cannot be used: ${reason}. DATA_DIR names its folder: name the right one, or put a backup in its place.`,
    );
  }
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
 * @param options - the file, made if it is missing with its folder, and the clock in milliseconds
 * @throws JournalFileError `JOURNAL_UNUSABLE`
 * @see https://sqlite.org/wal.html
 */
export function openPaymentJournal(options: { readonly file: string; readonly now: () => number }): PaymentJournal {
  const database = openDatabase(options.file);
  const statements = prepare(database);
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  const alerted = createAlertedTable(database);
  const list = (states: readonly PaymentState[]) =>
    states
      .flatMap((state) => statements.byState.all(state).map(readPayment))
      .toSorted((one, other) => one.seenAtMs - other.seenAtMs);
  const listWatched = () => statements.watched.all().map(readPayment);
  return {
    transfers: createTransferTable(database),
    broadcasts: createBroadcastTable(database),
    outbox: createOutboxTable(database, { now: options.now, commit }),
    alerted,
    commit,
    ...createWrites(database, statements, options.now),
    list: (states) => (states === undefined ? statements.all.all().map(readPayment) : list(states)),
    listWaiting: () => statements.waiting.all().map(readPayment),
    setListed(paymentIntentId, isListed) {
      const name = `unlisted:${paymentIntentId}`;
      if (!isListed) statements.setFact.run(name, 'by the frontend');
      else if (statements.fact.get(name) !== undefined) statements.clearFact.run(name);
    },
    attemptsOf: (paymentIntentId) => statements.attempts.all(paymentIntentId).map(readAttempt),
    hasAttempt: (intentId) => statements.attempt.get(intentId) !== undefined,
    listPrunable: () => statements.prunable.all().map((row) => `${row.intent_id}`),
    dropCall: (intentId) => void statements.dropCall.run(intentId),
    find: (words) => statements.find.all(words).map(readPayment),
    listWatched,
    listWallets() {
      const payments = [...list([...OPEN_STATES, 'held']), ...listWatched(), ...alerted.listEnded()];
      // Lower case of an address is an address.
      return [...new Set(payments.map(({ walletAddress }) => walletAddress.toLowerCase() as Address))];
    },
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
        completed: payments.filter(({ state }) => state === 'completed').length,
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
