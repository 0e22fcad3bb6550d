/** BullMQ: adds and runs empty jobs. Started by `startChild`; needs PEER_PORT. */
import { openBullQueue } from '../peers/openBullQueue.ts';
import type { PeerCalls } from '../peers/peerQueue.ts';
import { runPeer } from '../peers/runPeer.ts';
import { serveCalls } from '../processes/serveCalls.ts';

const port = Number(process.env.PEER_PORT);

serveCalls<PeerCalls>({
  async run(run) {
    const queue = await openBullQueue({ port, concurrency: run.concurrency });
    try {
      return await runPeer(queue, run);
    } finally {
      await queue.close();
    }
  },
});
