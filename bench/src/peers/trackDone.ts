import type { PeerQueue } from './peerQueue.ts';

/**
 * Listens to a queue, so that one can wait for single jobs.
 *
 * @param queue what to listen to
 * @returns a function that waits for one job; it may be done before anyone asks
 */
export function trackDone(queue: PeerQueue): (jobId: string) => Promise<void> {
  const doneBefore = new Set<string>();
  const waiting = new Map<string, () => void>();
  queue.onDone((jobId) => {
    const resolve = waiting.get(jobId);
    if (resolve === undefined) {
      doneBefore.add(jobId);
      return;
    }
    waiting.delete(jobId);
    resolve();
  });
  return async (jobId) => {
    if (doneBefore.delete(jobId)) return;
    await new Promise<void>((resolve) => waiting.set(jobId, resolve));
  };
}
