import type { Child } from '../processes/startChild.ts';
import type { PeerCalls, PeerRun } from './peerQueue.ts';

/**
 * Finds the concurrency at which a peer is fastest on this machine.
 *
 * @param peer the peer's process
 * @param params how it is run otherwise, and which concurrencies to try
 * @returns the same with the best concurrency
 */
export async function tunePeer(
  peer: Child<PeerCalls>,
  params: { readonly run: Omit<PeerRun, 'concurrency'>; readonly candidates: readonly number[] },
): Promise<PeerRun> {
  let best: PeerRun | undefined;
  let bestPerSecond = 0;
  for (const concurrency of params.candidates) {
    const run = { ...params.run, concurrency };
    const perSecond = await peer.call('run', run);
    if (perSecond <= bestPerSecond) continue;
    [best, bestPerSecond] = [run, perSecond];
  }
  if (best === undefined) throw new Error('There was no concurrency to try.');
  return best;
}
