/** The load process: prepares calls, sends them, counts. Started by `startChild`. */
import type { LoadCalls } from '../load/loadCalls.ts';
import { prepareLoad } from '../load/prepareLoad.ts';
import { runFeed } from '../load/runFeed.ts';
import { runFill } from '../load/runFill.ts';
import { runLives } from '../load/runLives.ts';
import { runRace } from '../load/runRace.ts';
import { runReplay } from '../load/runReplay.ts';
import { serveCalls } from '../processes/serveCalls.ts';
import { loadSigningCrypto } from '../signing/loadSigningCrypto.ts';

const crypto = await loadSigningCrypto();
const batches = new Map<number, Buffer[]>();
let lastBatchId = 0;

serveCalls<LoadCalls>({
  async prepare(source) {
    const batchId = ++lastBatchId;
    batches.set(batchId, prepareLoad(crypto, source));
    return batchId;
  },
  async replay(run) {
    const requests = batches.get(run.batchId);
    if (requests === undefined) throw new Error(`Batch ${run.batchId} is not there.`);
    return runReplay(requests, run);
  },
  async release(batchId) {
    batches.delete(batchId);
    return undefined;
  },
  lives: (run) => runLives(crypto, run),
  feed: (run) => runFeed(crypto, run),
  race: (run) => runRace(crypto, run),
  fill: (run) => runFill(crypto, run),
});
