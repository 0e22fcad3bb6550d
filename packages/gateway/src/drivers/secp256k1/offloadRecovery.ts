import type { RecoverPublicKey } from '@prism-gateway/node/crypto';
import type { RequestCrypto } from '../../ports/requestCrypto.ts';
import type { ServiceConnection, WorkerThread } from '../../ports/workerThread.ts';
import { type RecoveryJob, readResult, writeJobs } from './runRecovery.ts';

interface Waiting extends RecoveryJob {
  readonly resolve: (publicKey: Uint8Array | undefined) => void;
}

/** So many jobs travel before the turn of the event loop ends: the thread then recovers them while more come in. */
const EARLY_JOBS = 4;

/** Most batches that the other thread has at once: with more to do, this one does its share, and commits there wait less. */
const MAX_BATCHES = 3;

/**
 * Recovers on the worker thread what is asked while much is asked, a few jobs to a message. What is asked alone, or nearly so, is
 * recovered at once, for the other thread's answer would take longer; so is what comes while that thread has enough to do. If it
 * dies, everything is recovered at once from then on.
 *
 * @param recover - recovers on this thread
 */
export function offloadRecovery(
  recover: RecoverPublicKey,
  thread: WorkerThread,
): Pick<RequestCrypto, 'recoverPublicKey'> {
  let queue: Waiting[] = [];
  let service: ServiceConnection<Uint8Array> | undefined;
  let isOver = false;
  /** Batches sent to the other thread, in the order in which it answers. */
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

  function connect(): ServiceConnection<Uint8Array> {
    const connection = thread.connect<Uint8Array, Uint8Array>('secp256k1-recovery', undefined, {
      onReply(results) {
        // It answers in order, and nothing before it is asked.
        const batch = batches.shift() ?? [];
        for (const [place, { resolve }] of batch.entries()) resolve(readResult(results, place));
      },
      onGone: giveUp,
    });
    connection.unref();
    return connection;
  }

  function sendAway(jobs: readonly Waiting[]): void {
    service ??= connect();
    batches.push(jobs);
    const batch = writeJobs(jobs);
    service.send(batch, [batch.buffer]);
  }

  /** Whether jobs are better recovered at once than sent away. */
  function belongHere(jobs: readonly Waiting[]): boolean {
    if (isOver || batches.length === MAX_BATCHES) return true;
    return jobs.length < EARLY_JOBS && batches.length === 0;
  }

  function flush(): void {
    const jobs = queue;
    queue = [];
    if (jobs.length === 0) return;
    if (belongHere(jobs)) recoverHere(jobs);
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
  };
}
