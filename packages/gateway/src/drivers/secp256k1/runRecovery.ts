import type { MessagePort } from 'node:worker_threads';
import { loadRecovery } from './loadRecovery.ts';
import { JOB_BYTES, RESULT_BYTES, readJob, writeResult } from './recoveryBatch.ts';

/** The service that recovers public keys, while the thread that answers HTTP goes on. */
export async function runRecovery(port: MessagePort): Promise<void> {
  const { recoverPublicKey } = await loadRecovery();
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
