import type { BenchContext } from '../benchContext.ts';
import { PeerMissingError } from '../peers/PeerMissingError.ts';
import { type Peer, startBullPeer, startGraphilePeer } from '../peers/startPeers.ts';
import { startGateway } from '../processes/startGateway.ts';
import { alternate } from './alternate.ts';
import { createRunLog } from './createRunLog.ts';
import type { ResultRow, Target } from './measureResult.ts';

/** Requests of one call that claims or reports, where they come in batches. */
const batchSize = 50;

interface Lives {
  readonly title: string;
  readonly values: readonly number[];
  readonly notes: readonly string[];
  readonly targetOf: (peer: Peer) => Target | undefined;
}

/** A row for the lives, and one for each way of running each peer, in whose rounds they were led. */
function rowsOf(lives: Lives, peers: readonly Peer[], figures: Readonly<Record<string, number[]>>): ResultRow[] {
  const { title, values, notes, targetOf } = lives;
  const ours = { unit: 'lives/s', values };
  const against = peers.map((peer) => {
    const target = targetOf(peer);
    return {
      ...ours,
      title: `${title}, against ${peer.title}`,
      // `alternate` gives figures for each step it was given.
      baseline: { title: peer.title, values: figures[peer.title]! },
      ...(target === undefined ? {} : { target }),
      notes: [peer.describe],
    };
  });
  return [{ ...ours, title, notes }, ...against];
}

/**
 * Measures whole lives of requests (create, claim, report), over HTTP and with all signatures checked, one by one and with claims
 * and reports in batches; with `--peers` against job queues that add and run one empty job, without HTTP.
 *
 * @param context the bench
 * @returns a row for each kind of lives, and one for each way of running each peer
 */
export async function measureLife(context: BenchContext): Promise<ResultRow[]> {
  const gateway = await startGateway(context);
  const [log, batchLog] = [createRunLog('gateway', gateway.pid), createRunLog('gateway', gateway.pid)];
  const peers = context.options.peers ? await startPeers(context) : [];
  const { connections, runs } = context.options;
  const run = { port: gateway.port, connections, lives: context.scale.lives, relayers: context.relayers };
  const lives = async () => (await log.watch(() => context.load.call('lives', run))).perSecond;
  const batched = { ...run, batchSize };
  const batches = async () => (await batchLog.watch(() => context.load.call('lives', batched))).perSecond;

  await alternate(1, { lives, batches });
  const steps: Record<string, () => Promise<number>> = { lives, batches };
  for (const peer of peers) steps[peer.title] = peer.run;
  const figures = await alternate(runs, steps);
  const one = {
    title: 'Whole life: create, claim, report',
    values: figures.lives!,
    notes: [log.describe(), 'signatures of claims and reports are finished during the run, in the load process'],
    targetOf: ({ target }: Peer) => target,
  };
  const many = {
    title: `Whole life, claims and reports in batches of ${batchSize}`,
    values: figures.batches!,
    notes: [batchLog.describe()],
    targetOf: ({ batchTarget }: Peer) => batchTarget,
  };
  return [...rowsOf(one, peers, figures), ...rowsOf(many, peers, figures)];
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
