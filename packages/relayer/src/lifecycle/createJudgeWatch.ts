import { forwarderAbi } from '@prism-gateway/contracts';
import { encodeFunctionData } from 'viem/utils';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { Health } from './createHealth.ts';

/** A call that every Forwarder carries out for everybody. */
const PROBE = encodeFunctionData({ abi: forwarderAbi, functionName: 'domainSeparator' });

/** Told after each judging what could not be judged, and why; none where all could. */
export type NoteFailures = (failures: readonly Error[]) => Promise<void>;

/**
 * Makes the watch over judging. Anybody may post a request that a node does not simulate: only where it does not simulate a harmless
 * call either, requests cannot be judged.
 */
export function createJudgeWatch(ports: {
  readonly chain: Pick<ChainReader, 'simulate'>;
  readonly state: Pick<ChainState, 'seconds'>;
  readonly health: Pick<Health, 'noteWell' | 'noteFailure'>;
}): NoteFailures {
  const { chain, state, health } = ports;
  return async function noteFailures(failures) {
    if (failures.length === 0) return health.noteWell('judge');
    try {
      await chain.simulate(PROBE, { seconds: await state.seconds() });
      health.noteWell('judge');
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      health.noteFailure('judge', error.message);
    }
  };
}
