import { createBackOff } from '@prism-gateway/runtime';
import type { ReportResult, RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { Candidates } from './createCandidates.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { Ended, OpenRequest } from './openRequest.ts';

/** Pauses between attempts, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

interface ReportPorts {
  readonly gateway: Pick<RequestGateway, 'report'>;
  readonly journal: Pick<Journal, 'move'>;
  readonly inFlight: Pick<InFlight, 'drop' | 'size'>;
  readonly candidates: Pick<Candidates, 'touch'>;
  readonly notes: Pick<ChainNotes, 'reported' | 'inFlight' | 'log'>;
  readonly now: () => number;
  readonly random: () => number;
  /** Has the queue looked at now rather than after the pause. */
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** `mined` becomes `reported` or `lost`: the end. */
function close(ports: ReportPorts, request: OpenRequest, { outcome }: Ended, result: 'reported' | 'lost'): void {
  const { journal, inFlight, notes, now, candidates } = ports;
  const { requestId } = request;
  journal.move([{ requestId, to: result, by: 'reportOutcomes', nowMs: now() }]);
  inFlight.drop(requestId);
  notes.inFlight(inFlight.size);
  if (result === 'reported') {
    notes.log.info({ requestId, ...outcome }, 'reported');
    notes.reported(outcome.status, (now() - request.claimedAtMs) / 1000);
  } else notes.log.warn({ requestId, ...outcome }, 'not reported: the claim is no longer this relayer’s');
  // The signer's next request may be in order now.
  for (const { signer } of request.signatures) candidates.touch(signer);
}

/**
 * Tells the gateway what became of requests, for as long as it takes.
 *
 * @param requests - `mined`
 * @returns none: this is the end
 * @throws GatewayError `VALIDATION_FAILED`: a defect of the relayer
 */
export async function reportOutcomes(ports: ReportPorts, requests: readonly OpenRequest[]): Promise<readonly string[]> {
  const { gateway, random, signal } = ports;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  let left = requests.flatMap((request) =>
    request.outcome === undefined ? [] : [{ request, requestId: request.requestId, outcome: request.outcome }],
  );
  while (left.length > 0 && !signal.aborted) {
    const results: ReadonlyMap<string, ReportResult> = await gateway.report(left);
    for (const ended of left) {
      const result = results.get(ended.requestId);
      if (result === 'reported' || result === 'lost') close(ports, ended.request, ended, result);
    }
    const before = left.length;
    left = left.filter(({ requestId }) => (results.get(requestId) ?? 'unknown') === 'unknown');
    if (left.length < before) ports.wake();
    if (left.length > 0 && !(await backOff.wait())) break;
  }
  return [];
}
