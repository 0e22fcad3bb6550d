/**
 * The thread that writes. It takes every order that waits, runs them in one transaction and answers them after its commit:
 * so concurrent writes share one wait for the disk.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openDatabase } from './database.ts';
import { quoteTables, type TableNames } from './tables.ts';
import { prepareWrites } from './writeStatements.ts';
import type { WriteKind, WriteOrder, WriteOutcome, Writes } from './writes.ts';

export interface WriterThreadData {
  readonly file: string;
  readonly tables: TableNames;
}

/** Orders with the numbers their outcomes go back under; null: close. */
export type ToWriterThread = readonly (readonly [number, WriteOrder])[] | null;
export type FromWriterThread = readonly (readonly [number, WriteOutcome])[];

/** Most orders of one transaction, which bounds how long any of them waits. */
const MAX_ORDERS = 256;

function runWriter(port: NonNullable<typeof parentPort>, { file, tables }: WriterThreadData): void {
  const database = openDatabase(file);
  const { writes, saveCounts, forgetCounts } = prepareWrites(database, quoteTables(tables));
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');

  function apply(order: WriteOrder): Writes[WriteKind]['result'] {
    // `kind` names the function that takes this `input`; TypeScript cannot follow the pair through the union.
    return (writes[order.kind] as (input: WriteOrder['input']) => Writes[WriteKind]['result'])(order.input);
  }

  function runTogether(orders: NonNullable<ToWriterThread>): FromWriterThread {
    begin.run();
    try {
      const outcomes = orders.map(([number, order]) => [number, { result: apply(order) }] as const);
      saveCounts();
      commit.run();
      return outcomes;
    } catch (error) {
      forgetCounts();
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Runs orders in one transaction; if that fails, each in its own, so that one bad order harms no other. */
  function run(orders: NonNullable<ToWriterThread>): FromWriterThread {
    try {
      return runTogether(orders);
    } catch (error) {
      if (orders.length > 1) return orders.flatMap((order) => run([order]));
      const outcome = { error: error instanceof Error ? error.message : String(error) };
      return orders.map(([number]) => [number, outcome] as const);
    }
  }

  function close(): void {
    database.close();
    port.close();
  }

  port.on('message', (first: ToWriterThread) => {
    const waiting = [];
    let closing = false;
    for (let message: { message: ToWriterThread } | undefined = { message: first }; message !== undefined; ) {
      if (message.message === null) closing = true;
      else waiting.push(...message.message);
      message = receiveMessageOnPort(port);
    }
    for (let i = 0; i < waiting.length; i += MAX_ORDERS) port.postMessage(run(waiting.slice(i, i + MAX_ORDERS)));
    if (closing) close();
  });
}

// Started as a worker by `writer.ts`, which gives it its data; imported elsewhere it does nothing.
if (parentPort !== null) runWriter(parentPort, workerData as WriterThreadData);
