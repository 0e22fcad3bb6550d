import { createBackOff } from '@prism-gateway/node';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { createNonceSearch } from '../checks/createNonceSearch.ts';
import { ruleOf } from '../checks/leaveReasons.ts';
import type { ReportResult } from '../gateway/requestGateway.ts';
import { findOutcome } from '../nodes/findOutcome.ts';
import { leaveUnclaimed } from './candidates.ts';
import type { RelayerContext } from './context.ts';
import type { Ended, OpenRequest } from './states.ts';

/** Pauses between attempts, in milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 30_000 };

interface Report extends Ended {
  readonly request: OpenRequest;
}

/** `finalized` becomes `reported` or `lost`: the end. */
function close(
  context: RelayerContext,
  { request, requestId, outcome }: Report,
  result: Exclude<ReportResult, 'unknown'>,
): void {
  const { gateway, journal, inFlight, events, now } = context;
  journal.move([{ requestId, to: result, by: 'reportOutcomes', nowMs: now() }]);
  // It may be pending again, after an older copy of the gateway was put back: the queue has passed by it while it was in flight.
  if (result === 'lost') journal.recordVerdicts([leaveUnclaimed(request.record, now())]);
  inFlight.drop(requestId);
  events.emit({ type: 'in-flight-changed', requests: inFlight.size });
  const seconds = (now() - request.claimedAtMs) / 1000;
  if (result === 'reported') events.emit({ type: 'request-reported', requestId, outcome, seconds });
  else events.emit({ type: 'report-refused', requestId, outcome });
  // The signer's next request may be in order now.
  for (const { signer } of request.signatures) gateway.candidates.touch(signer);
}

/** `finalized` becomes `claimed`: the outcome is no more. The gateway is asked first, for an earlier report may have arrived. */
function reopen({ journal, inFlight, events, now, advance }: RelayerContext, { requestId, outcome }: Report): void {
  journal.move([{ requestId, to: 'claimed', by: 'reportOutcomes', nowMs: now() }]);
  inFlight.forget(requestId);
  events.emit({ type: 'outcome-undone', requestId, outcome });
  advance([requestId]);
}

/** Whether a request that nothing has carried out would still not be. @returns undefined if that cannot be known now */
async function isStillRefused(
  context: RelayerContext,
  { record, signatures }: OpenRequest,
): Promise<boolean | undefined> {
  const search = createNonceSearch(record, signatures);
  const { verdicts } = await checkRequests(context, { candidates: [{ record, search }] });
  const verdict = verdicts.get(record.requestId);
  if (verdict === undefined || verdict.kind === 'hopeless') return verdict && true;
  return verdict.kind === 'leave' && ruleOf(verdict.reason).finality === 'fails';
}

/** Whether the gateway answers at all: while it does not, the chain need not be asked again and again. */
async function isAnswering({ gateway, events }: RelayerContext, requestId: string): Promise<boolean> {
  try {
    await gateway.read(requestId);
    return true;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    events.emit({ type: 'fault', where: 'gateway' });
    return false;
  }
}

/**
 * Asks the chain again for an outcome that was found some time ago: a reorganisation may have undone it.
 *
 * @returns undefined if that cannot be known now
 */
async function isStillTrue(context: RelayerContext, { request, outcome }: Report): Promise<boolean | undefined> {
  const isSuccess = outcome.status === 'success';
  const isSent = request.intentId !== undefined;
  // Its transaction was reverted: it was paid for once, and never is again.
  if (!isSuccess && isSent) return true;
  try {
    const answer = await findOutcome(context, request);
    // The sender brings back a transaction of its own.
    if (answer.kind === 'undecided' || (answer.kind === 'open' && isSuccess && isSent)) return undefined;
    if (answer.kind === 'executed') return isSuccess && answer.txHash === outcome.txHash;
    return !isSuccess && (answer.kind === 'replaced' || (await isStillRefused(context, request)));
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    context.events.emit({ type: 'fault', where: 'chain' });
    return undefined;
  }
}

/**
 * Reports to the gateway what became of requests, for as long as it takes. Before a second attempt, and after a restart, the chain is asked
 * whether it is still so.
 *
 * @param requests - `finalized`
 * @returns none: what has not ended is handed on
 * @throws GatewayError `VALIDATION_FAILED`: a defect of the relayer
 * @see docs/specification.md RELAY-5
 */
export async function reportOutcomes(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  const { gateway, inFlight, random, signal, wake } = context;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  let left = requests.flatMap((request): Report[] =>
    request.outcome === undefined ? [] : [{ request, requestId: request.requestId, outcome: request.outcome }],
  );
  for (let attempt = 1; left.length > 0 && !signal.aborted; attempt++) {
    const isOld = ({ requestId }: Report) => attempt > 1 || inFlight.status(requestId) === undefined;
    const old = left.find(isOld);
    if (old !== undefined && !(await isAnswering(context, old.requestId))) {
      await backOff.wait();
      continue;
    }
    const truths = await Promise.all(left.map((one) => !isOld(one) || isStillTrue(context, one)));
    for (const one of left.filter((_, i) => truths[i] === false)) reopen(context, one);
    const ready = left.filter((_, i) => truths[i] === true);
    const results = ready.length === 0 ? new Map<string, ReportResult>() : await gateway.report(ready);
    left = left.filter((one, i) => {
      const result = results.get(one.requestId) ?? 'unknown';
      if (result !== 'unknown') close(context, one, result);
      return truths[i] !== false && result === 'unknown';
    });
    if ([...results.values()].some((result) => result !== 'unknown')) wake();
    if (left.length > 0 && !(await backOff.wait())) break;
  }
  return [];
}
