import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { SharedWrites } from '../sql/adminStore.ts';
import type { CommittedMoves } from '../sql/createCounterChanges.ts';
import type { TableNames } from '../sql/tables.ts';
import { type LimitWrites, prepareAdminWrites, prepareCountHits } from './accessWrites.ts';
import { createIdentityCheck } from './checkFile.ts';
import { openDatabase } from './openDatabase.ts';
import { prepareRequestWrites, type RequestWrites } from './requestWrites.ts';
import { prepareSharedWrites } from './sharedWrites.ts';
import { quoteTables } from './tables.ts';

/** Every write that the store knows. */
export type Writes = RequestWrites & LimitWrites & SharedWrites;
export type WriteKind = keyof Writes;

/** One write on its way to the writer. */
export type WriteOrder = { [K in WriteKind]: { readonly kind: K; readonly input: Writes[K]['input'] } }[WriteKind];

/** A write's result, or why the whole commit failed. */
export type WriteOutcome = { readonly result: Writes[WriteKind]['result'] } | { readonly error: string };

export interface WriterData {
  readonly file: string;
  readonly tables: TableNames;
}

/** An order with the number its outcome goes back under. */
type NumberedOrder = readonly [number, WriteOrder];

/** The orders to carry out; null: close. */
export type ToWriter = readonly NumberedOrder[] | null;

/** The results of one transaction's orders. */
export interface FromWriter {
  readonly outcomes: readonly (readonly [number, WriteOutcome])[];
  /** The moves that were committed; absent if there are none. */
  readonly moves?: CommittedMoves | undefined;
}

/** Most orders of one transaction, which bounds how long any of them waits. */
const MAX_ORDERS = 256;

const asError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

const refuse = (orders: readonly NumberedOrder[], { message }: Error): FromWriter => ({
  outcomes: orders.map(([number]) => [number, { error: message }] as const),
});

/**
 * The service that writes. It takes every order that waits, runs them in one transaction and answers them after its commit:
 * so concurrent writes share one wait for the disk.
 */
export function runWriter(port: MessagePort, { file, tables }: WriterData): void {
  const database = openDatabase(file);
  const assertSameFile = createIdentityCheck(file);
  const quoted = quoteTables(tables);
  const { writes: requestWrites, counters, outbox } = prepareRequestWrites(database, quoted, Date.now);
  const writes: { readonly [K in WriteKind]: (input: Writes[K]['input']) => Writes[K]['result'] } = {
    ...requestWrites,
    ...prepareAdminWrites(database, quoted, counters),
    ...prepareSharedWrites(database, quoted),
    countHits: prepareCountHits(database, quoted),
  };
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');

  function apply(order: WriteOrder): Writes[WriteKind]['result'] {
    // It may be one that changes webhooks, or what waits for them.
    if (!Object.hasOwn(requestWrites, order.kind)) outbox.forget();
    // `kind` names the function that takes this `input`; TypeScript cannot follow the pair through the union.
    return (writes[order.kind] as (input: WriteOrder['input']) => Writes[WriteKind]['result'])(order.input);
  }

  /** Begins a transaction. @returns why the file is not to be had, if so */
  function tryBegin(): Error | undefined {
    try {
      assertSameFile();
      begin.run();
      return undefined;
    } catch (error) {
      return asError(error);
    }
  }

  /** Runs orders in the transaction that has begun. @returns why it has failed, if so */
  function runTogether(orders: readonly NumberedOrder[]): FromWriter | Error {
    try {
      const outcomes = orders.map(([number, order]) => [number, { result: apply(order) }] as const);
      const moves = counters.save();
      outbox.forget();
      commit.run();
      return { outcomes, moves };
    } catch (error) {
      counters.forget();
      outbox.forget();
      if (database.isTransaction) database.exec('ROLLBACK');
      return asError(error);
    }
  }

  /**
   * Runs orders in transactions of a given size, and again one by one if that fails. Once the file is locked for longer than SQLite waits, or gone, the rest
   * is refused too: to wait again for each group would hold up all that come after.
   */
  function* runInGroups(orders: readonly NumberedOrder[], size: number): Generator<FromWriter> {
    for (let i = 0; i < orders.length; i += size) {
      const fault = tryBegin();
      if (fault !== undefined) return yield refuse(orders.slice(i), fault);
      const some = orders.slice(i, i + size);
      const done = runTogether(some);
      if (!(done instanceof Error)) yield done;
      // Each in its own, so that one bad order harms no other.
      else if (some.length > 1) yield* runInGroups(some, 1);
      else yield refuse(some, done);
    }
  }

  function close(): void {
    database.close();
    port.close();
  }

  port.on('message', (first: ToWriter) => {
    const waiting: NumberedOrder[] = [];
    let closing = false;
    for (let message: { message: ToWriter } | undefined = { message: first }; message !== undefined; ) {
      if (message.message === null) closing = true;
      else waiting.push(...message.message);
      message = receiveMessageOnPort(port);
    }
    for (const done of runInGroups(waiting, MAX_ORDERS)) port.postMessage(done);
    if (closing) close();
  });
}
