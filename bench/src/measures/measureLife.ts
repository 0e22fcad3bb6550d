import type { BenchContext } from '../benchContext.ts';
import { PeerMissingError } from '../peers/PeerMissingError.ts';
import { type Peer, startBullPeer, startGraphilePeer } from '../peers/startPeers.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createRunLog } from './createRunLog.ts';
import type { ResultRow } from './measureResult.ts';

/**
 * Measures whole lives of requests (create, claim, report), over HTTP and with all signatures checked; with `--peers` against
 * job queues that add and run one empty job, without HTTP.
 *
 * @param context the bench
 * @returns a row for the lives, and one for each way of running each peer
 */
export async function measureLife(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  const log = createRunLog('gateway', gateway.pid);
  const peers = context.options.peers ? await startPeers(context) : [];
  const { connections, runs } = context.options;
  const run = { port: gateway.port, connections, lives: context.scale.lives, relayers: context.relayers };
  const lives = async () => (await log.watch(() => context.load.call('lives', run))).perSecond;

  await alternate(1, { lives });
  const steps: Record<string, () => Promise<number>> = { lives };
  for (const peer of peers) steps[peer.title] = peer.run;
  const figures = await alternate(runs, steps);
  // `alternate` gives figures for each step it was given.
  const values = figures.lives!;
  const ours = { title: 'Whole life: create, claim, report', unit: 'lives/s', values };
  return [
    {
      ...ours,
      notes: [log.describe(), 'signatures of claims and reports are finished during the run, in the load process'],
    },
    ...peers.map((peer) => ({
      ...ours,
      title: `Whole life, against ${peer.title}`,
      baseline: { title: peer.title, values: figures[peer.title]! },
      ...(peer.target === undefined ? {} : { target: peer.target }),
      notes: [peer.describe],
    })),
  ];
}

/** A peer that is not on this machine is told of and left out. */
async function startPeers(context: BenchContext): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const start of [startGraphilePeer, startBullPeer]) {
    try {
      peers.push(...(await start(context)));
    } catch (error) {
      if (!(error instanceof PeerMissingError)) throw error;
      context.tell(`  skipped: ${error.message}`);
    }
  }
  return peers;
}
