import type { BenchContext } from '../benchContext.ts';
import { openBullQueue } from './openBullQueue.ts';
import { openGraphileQueue } from './openGraphileQueue.ts';
import { type PeerQueue, runPeer } from './runPeer.ts';
import { startPostgres } from './startPostgres.ts';
import { startRedis } from './startRedis.ts';

/** A peer, tuned. */
export interface Peer {
  readonly title: string;
  /** At least how many times as many lives are wanted of the gateway, one by one and in batches. */
  readonly bound: number;
  readonly batchBound: number;
  /** What was chosen for it. */
  readonly describe: string;
  /** Jobs done a second. */
  run(): Promise<number>;
}

/**
 * Starts graphile-worker on a PostgreSQL of its own.
 *
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startGraphilePeer(context: BenchContext): Promise<Peer> {
  const connectionString = await startPostgres(context);
  return await tunePeer(context, {
    ...{ title: 'graphile-worker on PostgreSQL', bound: 3, batchBound: 5, count: context.scale.graphileJobs },
    // PostgreSQL takes 100 connections by default, and graphile-worker two for each job at once.
    candidates: context.options.quick ? [8] : [2, 4, 8, 16, 32],
    open: (concurrency) => openGraphileQueue({ connectionString, concurrency }),
  });
}

/**
 * Starts BullMQ on a Redis of its own.
 *
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startBullPeer(context: BenchContext): Promise<Peer> {
  const port = await startRedis(context);
  return await tunePeer(context, {
    ...{ title: 'BullMQ on Redis, appendfsync always', bound: 0.4, batchBound: 1, count: context.scale.bullJobs },
    candidates: context.options.quick ? [32] : [8, 16, 32, 64, 128],
    open: (concurrency) => openBullQueue({ port, concurrency }),
  });
}

interface Candidate extends Pick<Peer, 'title' | 'bound' | 'batchBound'> {
  readonly count: number;
  /** Jobs that the worker runs at once: what to try. */
  readonly candidates: readonly number[];
  open(concurrency: number): Promise<PeerQueue>;
}

/** Finds the concurrency at which a peer is fastest on this machine. */
async function tunePeer({ options }: BenchContext, { count, candidates, open, ...peer }: Candidate): Promise<Peer> {
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
