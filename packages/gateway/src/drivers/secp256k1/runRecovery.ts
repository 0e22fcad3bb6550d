import type { MessagePort } from 'node:worker_threads';
import { loadSecp256k1 } from '@prism-gateway/node/crypto';

/** The input of a recovery. */
export interface RecoveryJob {
  /** 32 bytes. */
  readonly digest: Uint8Array;
  /** `r` and `s`, 64 bytes. */
  readonly signature: Uint8Array;
  /** 0 or 1. */
  readonly recovery: number;
}

const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 64;

/** Bytes of a job in a batch: digest, signature, recovery value. */
const JOB_BYTES = DIGEST_BYTES + SIGNATURE_BYTES + 1;
/** Bytes of a result in a batch: whether there is a key, and the key. */
export const RESULT_BYTES = 1 + KEY_BYTES;

/** Writes jobs one after another, for the thread. */
export function writeJobs(jobs: readonly RecoveryJob[]): Uint8Array<ArrayBuffer> {
  const batch = new Uint8Array(jobs.length * JOB_BYTES);
  for (const [place, { digest, signature, recovery }] of jobs.entries()) {
    const start = place * JOB_BYTES;
    batch.set(digest, start);
    batch.set(signature, start + DIGEST_BYTES);
    batch[start + DIGEST_BYTES + SIGNATURE_BYTES] = recovery;
  }
  return batch;
}

/** Reads a job of a batch, without copying. */
function readJob(batch: Uint8Array, place: number): RecoveryJob {
  const start = place * JOB_BYTES;
  const signatureAt = start + DIGEST_BYTES;
  const recoveryAt = signatureAt + SIGNATURE_BYTES;
  return {
    digest: batch.subarray(start, signatureAt),
    signature: batch.subarray(signatureAt, recoveryAt),
    // The batch is as long as its jobs.
    recovery: batch[recoveryAt] as number,
  };
}

/** Writes a result into its place. */
function writeResult(batch: Uint8Array, place: number, publicKey: Uint8Array | undefined): void {
  if (publicKey === undefined) return;
  const start = place * RESULT_BYTES;
  batch[start] = 1;
  batch.set(publicKey, start + 1);
}

/** Reads a result of a batch, without copying; undefined if no key made the signature. */
export function readResult(batch: Uint8Array, place: number): Uint8Array | undefined {
  const start = place * RESULT_BYTES;
  return batch[start] === 1 ? batch.subarray(start + 1, start + RESULT_BYTES) : undefined;
}

/** The service that recovers public keys, while the thread that answers HTTP goes on. */
export function runRecovery(port: MessagePort): void {
  const { recoverPublicKey } = loadSecp256k1();
  port.on('message', (jobs: Uint8Array) => {
    const count = jobs.length / JOB_BYTES;
    const results = new Uint8Array(count * RESULT_BYTES);
    for (let place = 0; place < count; place++) {
      const { digest, signature, recovery } = readJob(jobs, place);
      writeResult(results, place, recoverPublicKey(digest, signature, recovery));
    }
    port.postMessage(results, [results.buffer]);
  });
}
