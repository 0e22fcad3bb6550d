import type { BenchContext } from '../benchContext.ts';
import type { LoadResult } from '../load/loadResult.ts';
import { createRunLog, type RunLog } from './createRunLog.ts';

/** One server under prepared calls, run after run. */
export interface ReplayMeter {
  /** Sends a prepared batch; gives answers a second. */
  run(batchId: number): Promise<number>;
  readonly log: RunLog;
}

/** Which server, and what its answers must be. */
export interface ReplayMeterParams {
  readonly name: string;
  readonly server: { readonly port: number; readonly pid: number };
  readonly expectedStatus: number;
  /** Default: as many as the command line asks for. */
  readonly connections?: number;
}

/**
 * Makes a meter for one server.
 *
 * @param context the bench
 * @param params which server
 * @returns the meter
 */
export function createReplayMeter(context: BenchContext, params: ReplayMeterParams): ReplayMeter {
  const log = createRunLog(params.name, params.server.pid);
  const replay = (batchId: number): Promise<LoadResult> =>
    context.load.call('replay', {
      batchId,
      port: params.server.port,
      connections: params.connections ?? context.options.connections,
      expectedStatus: params.expectedStatus,
      keepRequestIds: false,
    });
  return {
    run: async (batchId) => (await log.watch(() => replay(batchId))).perSecond,
    log,
  };
}
