/** graphile-worker: adds and runs empty jobs. Started by `startChild`; needs PEER_URL. */
import { openGraphileQueue } from '../peers/openGraphileQueue.ts';
import type { PeerCalls } from '../peers/peerQueue.ts';
import { runPeer } from '../peers/runPeer.ts';
import { serveCalls } from '../processes/serveCalls.ts';

const connectionString = process.env.PEER_URL;
if (connectionString === undefined) throw new Error('PEER_URL is not set.');

serveCalls<PeerCalls>({
  async run(run) {
    const queue = await openGraphileQueue({ connectionString, concurrency: run.concurrency });
    try {
      return await runPeer(queue, run);
    } finally {
      await queue.close();
    }
  },
});
