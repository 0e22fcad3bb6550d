import type { BenchContext } from '../benchContext.ts';
import type { Target } from '../measures/measureResult.ts';
import { startChild } from '../processes/startChild.ts';
import type { PeerCalls, PeerRun } from './peerQueue.ts';
import { startPostgres } from './startPostgres.ts';
import { startRedis } from './startRedis.ts';
import { tunePeer } from './tunePeer.ts';

/** One way of running one peer, tuned. */
export interface Peer {
  readonly title: string;
  readonly target?: Target;
  /** Of lives whose claims and reports come in batches. */
  readonly batchTarget?: Target;
  /** What was chosen for it. */
  readonly describe: string;
  /** Jobs done a second. */
  run(): Promise<number>;
}

/** Concurrencies that are tried; PostgreSQL takes 100 connections by default, and graphile-worker two for each job at once. */
const candidatesOf = {
  graphile: { full: [2, 4, 8, 16, 32], quick: [4, 16] },
  bull: { full: [8, 16, 32, 64, 128], quick: [16, 64] },
} as const;

/**
 * Starts graphile-worker on a PostgreSQL of its own.
 *
 * @param context the bench
 * @returns two ways of running it; the one with as many jobs in flight as we have requests carries the target
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startGraphilePeer(context: BenchContext): Promise<Peer[]> {
  const env = { PEER_URL: await startPostgres(context) };
  const entry = new URL('../entry/graphilePeer.ts', import.meta.url);
  return startBothWays(context, {
    name: 'graphile-worker on PostgreSQL',
    entry,
    env,
    candidates: candidatesOf.graphile[context.options.quick ? 'quick' : 'full'],
    count: context.scale.graphileJobs,
    bound: 3,
    batchBound: 5,
  });
}

/**
 * Starts BullMQ on a Redis of its own.
 *
 * @param context the bench
 * @returns two ways of running it; the one with as many jobs in flight as we have requests carries the target
 * @throws PeerMissingError (`PEER_MISSING`)
 */
export async function startBullPeer(context: BenchContext): Promise<Peer[]> {
  const env = { PEER_PORT: String(await startRedis(context)) };
  const entry = new URL('../entry/bullPeer.ts', import.meta.url);
  return startBothWays(context, {
    name: 'BullMQ on Redis, appendfsync always',
    entry,
    env,
    candidates: candidatesOf.bull[context.options.quick ? 'quick' : 'full'],
    count: context.scale.bullJobs,
    bound: 0.4,
    batchBound: 1,
  });
}

interface PeerStart {
  readonly name: string;
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly candidates: readonly number[];
  readonly count: number;
  readonly bound: number;
  readonly batchBound: number;
}

async function startBothWays(context: BenchContext, start: PeerStart): Promise<Peer[]> {
  const child = await startChild<PeerCalls>({ entry: start.entry, env: start.env });
  context.cleanup.add(() => child.stop());
  const lanes = context.options.connections;
  const { candidates } = start;
  const tune = async (mode: PeerRun['mode']) => {
    context.tell(`  tuning ${start.name}, ${mode}`);
    return tunePeer(child, { run: { mode, lanes, count: start.count }, candidates });
  };
  const lives = await tune('lives');
  const backlog = await tune('backlog');
  return [
    {
      title: start.name,
      target: { of: 'ratio', is: 'at least', bound: start.bound },
      batchTarget: { of: 'ratio', is: 'at least', bound: start.batchBound },
      describe: `${lanes} jobs in flight as we have requests; best concurrency of ${candidates.join(', ')}: ${lives.concurrency}`,
      run: () => child.call('run', lives),
    },
    {
      title: `${start.name}, backlog allowed`,
      describe: `${lanes} adds under way and no bound on jobs in flight; best concurrency of ${candidates.join(', ')}: ${backlog.concurrency}`,
      run: () => child.call('run', backlog),
    },
  ];
}
