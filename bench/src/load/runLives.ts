import type { KeyPair } from '../signing/createKeyPair.ts';
import { createPreparedSigner } from '../signing/createPreparedSigner.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { createBatchLane } from './createBatchLane.ts';
import { createLifeLane } from './createLifeLane.ts';
import type { LoadResult } from './loadResult.ts';
import { prepareCreates } from './prepareCreates.ts';
import { runLanes } from './runLanes.ts';
import { summariseLatency } from './summariseLatency.ts';

/** Calls of one life: create, claim, report. The last two are signed on the way. */
const callsOfLife = 3;
const signaturesOfLife = 2;

/** How many lives, over how many connections, by which relayers. */
export interface LivesRun {
  readonly port: number;
  readonly connections: number;
  readonly lives: number;
  readonly relayers: readonly KeyPair[];
  /** Requests of one call that claims or reports; absent: one by one. */
  readonly batchSize?: number;
}

/**
 * Leads requests through their whole lives, one at a time on each connection.
 *
 * @param crypto the curve and the hash
 * @param run how many, by whom
 * @returns what was seen, counted in lives; `statuses` counts answers
 */
export async function runLives(crypto: SigningCrypto, run: LivesRun): Promise<LoadResult> {
  const creates = prepareCreates(crypto, run.lives);
  const signDigest = createPreparedSigner(crypto.secp256k1, run.lives * signaturesOfLife);
  const latencies = new Float64Array(run.lives);
  let taken = 0;
  let lived = 0;
  const { batchSize } = run;
  const lanes = Array.from({ length: run.connections }, (_, i) => {
    const lane = {
      crypto: { ...crypto, signDigest },
      // `i % length` is an index of a list that is not empty.
      relayer: run.relayers[i % run.relayers.length]!,
      takeCreate: () => creates[taken++],
      onLife: (elapsedMs: number) => {
        latencies[lived++] = elapsedMs;
      },
    };
    return batchSize === undefined ? createLifeLane(lane) : createBatchLane({ ...lane, batchSize });
  });
  const seen = await runLanes({
    port: run.port,
    lanes,
    keepBody: true,
    expects: (status) => status === 200 || status === 201,
    maxAnswers: run.lives * callsOfLife,
  });
  return {
    ...seen,
    done: lived,
    perSecond: (lived / seen.elapsedMs) * 1000,
    latencyMs: summariseLatency(latencies.subarray(0, lived)),
  };
}
