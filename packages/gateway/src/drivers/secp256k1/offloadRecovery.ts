import { Worker } from 'node:worker_threads';
import type { RequestCrypto } from '../../ports/requestCrypto.ts';
import type { RecoverPublicKey } from './recoverPublicKey.ts';
import { type RecoveryJob, readResult, writeJobs } from './recoveryBatch.ts';

/** Recovery on a thread of its own. */
export interface OffloadedRecovery extends Pick<RequestCrypto, 'recoverPublicKey'> {
  /** Ends the thread; whatever is asked from then on is recovered at once. */
  close(): Promise<void>;
}

interface Waiting extends RecoveryJob {
  readonly resolve: (publicKey: Uint8Array | undefined) => void;
}

/** So many jobs travel before the turn of the event loop ends: the thread then recovers them while more come in. */
const EARLY_JOBS = 4;

/** Heap of the thread, in MiB: it makes little more than the batches. */
const HEAP = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 };

/**
 * Recovers on another thread what is asked while more is asked, all of one turn of the event loop in one message. What is asked alone
 * is recovered at once, for a thread's answer would take longer. If the thread dies, everything is recovered at once from then on.
 *
 * @param recover - recovers on this thread
 * @returns the recovery; its thread starts with the first batch
 */
export function offloadRecovery(recover: RecoverPublicKey): OffloadedRecovery {
  let queue: Waiting[] = [];
  let thread: Worker | undefined;
  let isOver = false;
  /** What the thread has, in the order in which it answers. */
  let batches: (readonly Waiting[])[] = [];

  function recoverHere(jobs: readonly Waiting[]): void {
    for (const { digest, signature, recovery, resolve } of jobs) resolve(recover(digest, signature, recovery));
  }

  function giveUp(): void {
    isOver = true;
    const open = batches.flat();
    batches = [];
    recoverHere(open);
  }

  function start(): Worker {
    const worker = new Worker(new URL('./recoveryThread.ts', import.meta.url), { resourceLimits: HEAP });
    worker.on('message', (results: Uint8Array) => {
      // It answers in order, and nothing before it is asked.
      const batch = batches.shift() ?? [];
      for (const [place, { resolve }] of batch.entries()) resolve(readResult(results, place));
    });
    worker.on('error', giveUp);
    worker.on('exit', giveUp);
    worker.unref();
    return worker;
  }

  function sendAway(jobs: readonly Waiting[]): void {
    thread ??= start();
    batches.push(jobs);
    const batch = writeJobs(jobs);
    thread.postMessage(batch, [batch.buffer]);
  }

  function flush(): void {
    const jobs = queue;
    queue = [];
    if (jobs.length === 0) return;
    if (isOver || (jobs.length === 1 && batches.length === 0)) recoverHere(jobs);
    else sendAway(jobs);
  }

  return {
    recoverPublicKey(digest, signature, recovery) {
      return new Promise((resolve) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ digest, signature, recovery, resolve });
        if (queue.length === EARLY_JOBS) flush();
      });
    },
    async close() {
      isOver = true;
      await thread?.terminate();
    },
  };
}
