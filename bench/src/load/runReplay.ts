import { createReplayLanes } from './createReplayLanes.ts';
import type { ReplayRun } from './loadCalls.ts';
import type { LoadResult } from './loadResult.ts';
import { readRequestId } from './readRequestId.ts';
import { runLanes } from './runLanes.ts';

/**
 * Sends prepared calls to a server.
 *
 * @param requests the calls
 * @param run where to and how
 * @returns what was seen
 */
export async function runReplay(requests: readonly Buffer[], run: ReplayRun): Promise<LoadResult> {
  const requestIds: string[] = [];
  const shared = { requests, connections: run.connections };
  const seen = await runLanes({
    port: run.port,
    lanes: createReplayLanes(
      run.keepRequestIds ? { ...shared, onBody: (body) => requestIds.push(readRequestId(body)) } : shared,
    ),
    keepBody: run.keepRequestIds,
    expects: (status) => status === run.expectedStatus,
    maxAnswers: requests.length,
  });
  return { ...seen, requestIds };
}
