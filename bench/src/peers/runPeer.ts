import type { PeerQueue, PeerRun } from './peerQueue.ts';
import { trackDone } from './trackDone.ts';

/** Share of the jobs that is run before the clock starts. */
const warmUpShare = 0.2;

/**
 * Adds jobs and waits until the last one is done, once to warm up and once for the clock.
 *
 * @param queue with a worker at work
 * @param run how
 * @returns jobs done a second
 */
export async function runPeer(queue: PeerQueue, run: PeerRun): Promise<number> {
  const whenDone = trackDone(queue);
  const warmUps = Math.ceil(run.count * warmUpShare);
  await addJobs(queue, { ...run, count: warmUps, whenDone });
  const startedAt = performance.now();
  await addJobs(queue, { ...run, whenDone });
  return (run.count / (performance.now() - startedAt)) * 1000;
}

async function addJobs(
  queue: PeerQueue,
  run: PeerRun & { readonly whenDone: (jobId: string) => Promise<void> },
): Promise<void> {
  let added = 0;
  const addInTurn = async () => {
    const waits: Promise<void>[] = [];
    while (added < run.count) {
      added += 1;
      const done = run.whenDone(await queue.add());
      if (run.mode === 'lives') await done;
      else waits.push(done);
    }
    await Promise.all(waits);
  };
  await Promise.all(Array.from({ length: run.lanes }, addInTurn));
}
