import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Reads a copied database's tables from end to end, on a thread of its own: its hash is made meanwhile.
 *
 * @param file - path of a database that nobody writes to
 * @throws Error with SQLite's first finding, or why it could not be read
 */
export async function verifyCopy(file: string): Promise<void> {
  // Its end; what it throws comes as its `error`, which rejects.
  await once(new Worker(new URL('./verifyMain.ts', import.meta.url), { workerData: file }), 'exit');
}
