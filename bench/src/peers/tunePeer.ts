import type { BenchContext } from '../benchContext.ts';
import { type PeerQueue, runPeer } from './runPeer.ts';

/** A peer, tuned. */
export interface Peer {
  readonly title: string;
  /** At least how many times as many lives are wanted of the gateway, one by one and in batches. */
  readonly bound: number;
  readonly batchBound: number;
  /** The settings chosen for it. */
  readonly describe: string;
  /** Jobs done a second. */
  run(): Promise<number>;
}

interface Candidate extends Pick<Peer, 'title' | 'bound' | 'batchBound'> {
  readonly count: number;
  /** Jobs that the worker runs at once: what to try. */
  readonly candidates: readonly number[];
  open(concurrency: number): Promise<PeerQueue>;
}

/** Finds the concurrency at which a peer is fastest on this machine. */
export async function tunePeer(
  { options }: BenchContext,
  { count, candidates, open, ...peer }: Candidate,
): Promise<Peer> {
  console.error(`  tuning ${peer.title}`);
  const lanes = options.connections;
  async function runWith(concurrency: number): Promise<number> {
    const queue = await open(concurrency);
    try {
      return await runPeer(queue, { lanes, count });
    } finally {
      await queue.close();
    }
  }
  let [best, bestPerSecond] = [0, 0];
  for (const concurrency of candidates) {
    const perSecond = await runWith(concurrency);
    if (perSecond > bestPerSecond) [best, bestPerSecond] = [concurrency, perSecond];
  }
  const describe = `${lanes} jobs in flight as we have requests; best concurrency of ${candidates.join(', ')}: ${best}`;
  return { ...peer, describe, run: () => runWith(best) };
}
