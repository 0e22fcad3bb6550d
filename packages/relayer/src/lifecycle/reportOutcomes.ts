import { createBackOff } from '@prism-gateway/node';
import type { ReportResult } from '../gateway/requestGateway.ts';
import type { RelayerContext } from './context.ts';
import type { Ended, OpenRequest } from './states.ts';

/** Pauses between attempts, in milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 30_000 };

/** `mined` becomes `reported` or `lost`: the end. */
function close(
  context: RelayerContext,
  request: OpenRequest,
  { outcome, result }: Ended & { readonly result: 'reported' | 'lost' },
): void {
  const { gateway, journal, inFlight, events, now } = context;
  const { requestId } = request;
  journal.move([{ requestId, to: result, by: 'reportOutcomes', nowMs: now() }]);
  inFlight.drop(requestId);
  events.emit({ type: 'in-flight-changed', requests: inFlight.size });
  const seconds = (now() - request.claimedAtMs) / 1000;
  if (result === 'reported') events.emit({ type: 'request-reported', requestId, outcome, seconds });
  else events.emit({ type: 'report-refused', requestId, outcome });
  // The signer's next request may be in order now.
  for (const { signer } of request.signatures) gateway.candidates.touch(signer);
}

/**
 * Tells the gateway what became of requests, for as long as it takes.
 *
 * @param requests - `mined`
 * @returns none: this is the end
 * @throws GatewayError `VALIDATION_FAILED`: a defect of the relayer
 */
export async function reportOutcomes(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  const { gateway, random, signal, wake } = context;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  let left = requests.flatMap((request) =>
    request.outcome === undefined ? [] : [{ request, requestId: request.requestId, outcome: request.outcome }],
  );
  while (left.length > 0 && !signal.aborted) {
    const results: ReadonlyMap<string, ReportResult> = await gateway.report(left);
    for (const ended of left) {
      const result = results.get(ended.requestId);
      if (result === 'reported' || result === 'lost') close(context, ended.request, { ...ended, result });
    }
    const before = left.length;
    left = left.filter(({ requestId }) => (results.get(requestId) ?? 'unknown') === 'unknown');
    if (left.length < before) wake();
    if (left.length > 0 && !(await backOff.wait())) break;
  }
  return [];
}
