import { Worker } from 'node:worker_threads';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import type { FromWriterThread, ToWriterThread, WriterThreadData } from './writerThread.ts';
import type { WriteKind, WriteOrder, WriteOutcome, Writes } from './writes.ts';

interface Waiting {
  readonly resolve: (result: Writes[WriteKind]['result']) => void;
  readonly reject: (error: Error) => void;
}

export interface Writer {
  /** Resolves once the write is on the disk. @throws DependencyUnavailableError */
  write<K extends WriteKind>(kind: K, input: Writes[K]['input']): Promise<Writes[K]['result']>;
  /** Finishes what was ordered and closes the file. */
  close(): Promise<void>;
}

/** Heap that the writer thread may use for short-lived objects, in MiB; its orders are small and soon gone. */
const YOUNG_GENERATION_MB = 8;

/** So many orders travel before the turn of the event loop ends: the thread then commits them while more come in. */
const EARLY_ORDERS = 16;

const unavailable = (cause: unknown) => new DependencyUnavailableError('store', { cause });

/**
 * Starts the writer thread. Orders given in one turn of the event loop travel in few messages; the thread commits all that
 * waits in one transaction. If the thread dies, its open orders are rejected and the next order starts another.
 *
 * @param onCommitted - called after each commit, before any write of it is acknowledged
 */
export function createWriter(data: WriterThreadData, onCommitted: () => void): Writer {
  const waiting = new Map<number, Waiting>();
  let orders: [number, WriteOrder][] = [];
  let nextNumber = 0;
  let thread: Worker | undefined;
  let closing: Promise<void> | undefined;

  function settle(number: number, outcome: WriteOutcome): void {
    const one = waiting.get(number);
    waiting.delete(number);
    if ('error' in outcome) one?.reject(unavailable(new Error(outcome.error)));
    else one?.resolve(outcome.result);
  }

  function start(): Worker {
    const worker = new Worker(new URL('./writerThread.ts', import.meta.url), {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    worker.on('message', (outcomes: FromWriterThread) => {
      onCommitted();
      for (const [number, outcome] of outcomes) settle(number, outcome);
    });
    worker.on('error', (error) => {
      if (thread === worker) thread = undefined;
      for (const { reject } of waiting.values()) reject(unavailable(error));
      waiting.clear();
    });
    return worker;
  }

  function post(message: ToWriterThread): void {
    thread ??= start();
    thread.postMessage(message);
  }

  function flush(): void {
    if (orders.length === 0) return;
    post(orders);
    orders = [];
  }

  async function finish(): Promise<void> {
    flush();
    if (thread === undefined) return;
    // Not `once`: a thread that dies now has rejected its orders already, and is gone all the same.
    const exited = new Promise((resolve) => thread?.on('exit', resolve));
    post(null);
    await exited;
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
    close() {
      closing ??= finish();
      return closing;
    },
  };
}
