import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { ServiceConnection, WorkerThread } from '../../ports/workerThread.ts';
import type { CommittedMoves } from '../sql/createCounterChanges.ts';
import type { FromWriter, ToWriter, WriteKind, WriteOrder, WriteOutcome, WriterData, Writes } from './runWriter.ts';

interface Waiting {
  readonly resolve: (result: Writes[WriteKind]['result']) => void;
  readonly reject: (error: Error) => void;
}

export interface Writer {
  /** Resolves once the write is on the disk. @throws DependencyUnavailableError */
  write<K extends WriteKind>(kind: K, input: Writes[K]['input']): Promise<Writes[K]['result']>;
  /** Calls a listener with each transaction, in the order of their coming, before any write of it is acknowledged. */
  onCommitted(listener: OnCommitted): void;
  /** Finishes what was ordered and closes the file. */
  close(): Promise<void>;
}

/** So many orders travel before the turn of the event loop ends: the other thread then commits them while more come in. */
const EARLY_ORDERS = 16;

/** @param moves - what the transaction has committed, if anything has moved */
export type OnCommitted = (moves: CommittedMoves | undefined) => void;

const unavailable = (cause: unknown) => new DependencyUnavailableError('store', { cause });

/**
 * Writes on the worker thread. Orders given in one turn of the event loop travel in few messages; the service there commits all
 * that waits in one transaction. If the thread dies, the orders that it was sent are rejected, and the next flush starts another.
 */
export function createWriter(data: WriterData, thread: WorkerThread): Writer {
  const listeners: OnCommitted[] = [];
  /** By number, which is the order in which they came. */
  const waiting = new Map<number, Waiting>();
  let orders: [number, WriteOrder][] = [];
  let nextNumber = 0;
  let service: ServiceConnection<ToWriter> | undefined;
  let closing: Promise<void> | undefined;

  function resolve(number: number, outcome: WriteOutcome): void {
    const one = waiting.get(number);
    waiting.delete(number);
    if ('error' in outcome) one?.reject(unavailable(new Error(outcome.error)));
    else one?.resolve(outcome.result);
  }

  /** Rejects what the thread has taken along. Orders that were never sent wait for the next one: they will still be carried out. */
  function rejectSent(cause: Error): void {
    const firstUnsent = orders[0]?.[0] ?? nextNumber;
    for (const [number, { reject }] of waiting) {
      if (number >= firstUnsent) return;
      waiting.delete(number);
      reject(unavailable(cause));
    }
  }

  function connect(): ServiceConnection<ToWriter> {
    return thread.connect<ToWriter, FromWriter>('sqlite-writer', data, {
      onReply({ outcomes, moves }) {
        for (const listener of listeners) listener(moves);
        for (const [number, outcome] of outcomes) resolve(number, outcome);
      },
      onGone(cause) {
        service = undefined;
        rejectSent(cause);
      },
    });
  }

  function flush(): void {
    if (orders.length === 0) return;
    service ??= connect();
    service.send(orders);
    orders = [];
  }

  async function finish(): Promise<void> {
    flush();
    if (service === undefined) return;
    service.send(null);
    await service.closed;
  }

  return {
    write(kind, input) {
      if (closing !== undefined) return Promise.reject(unavailable(new Error('the store is closed')));
      const number = nextNumber++;
      if (orders.length === 0) setImmediate(flush);
      // `kind` and `input` belong together by this function's own type.
      orders.push([number, { kind, input } as WriteOrder]);
      if (orders.length === EARLY_ORDERS) flush();
      return new Promise((resolve, reject) => {
        waiting.set(number, { resolve: resolve as Waiting['resolve'], reject });
      });
    },
    onCommitted: (listener) => void listeners.push(listener),
    close() {
      closing ??= finish();
      return closing;
    },
  };
}
