/** A job queue as the bench sees it: jobs are added one by one, and each is run and marked done by the queue's own worker. */
export interface PeerQueue {
  /** Adds one empty job; gives its id once it is stored. */
  add(): Promise<string>;
  /** @param listener gets the id of each job that was run and marked done */
  onDone(listener: (jobId: string) => void): void;
  close(): Promise<void>;
}

/** How many jobs, and how many of them are in flight at once. */
export interface PeerRun {
  readonly lanes: number;
  readonly count: number;
}

/** Share of the jobs that is run before the clock starts. */
const WARM_UP_SHARE = 0.2;

/**
 * Adds jobs, each lane the next one when its last one is done, once to warm up and once for the clock.
 *
 * @param queue - with a worker at work
 * @returns jobs done a second
 */
export async function runPeer(queue: PeerQueue, { lanes, count }: PeerRun): Promise<number> {
  const whenDone = trackDone(queue);
  async function addJobs(jobs: number): Promise<void> {
    let added = 0;
    const addInTurn = async () => {
      while (added++ < jobs) await whenDone(await queue.add());
    };
    await Promise.all(Array.from({ length: lanes }, addInTurn));
  }
  await addJobs(Math.ceil(count * WARM_UP_SHARE));
  const startedAt = performance.now();
  await addJobs(count);
  return (count / (performance.now() - startedAt)) * 1000;
}

/** Lets one wait for single jobs, which may be done before anyone asks. */
function trackDone(queue: PeerQueue): (jobId: string) => Promise<void> {
  const doneBefore = new Set<string>();
  const waiting = new Map<string, () => void>();
  queue.onDone((jobId) => {
    const resolve = waiting.get(jobId);
    if (resolve === undefined) doneBefore.add(jobId);
    waiting.delete(jobId);
    resolve?.();
  });
  return async (jobId) => {
    if (doneBefore.delete(jobId)) return;
    await new Promise<void>((resolve) => waiting.set(jobId, resolve));
  };
}
