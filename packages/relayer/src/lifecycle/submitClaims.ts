import { ChainError } from '../chain/chainError.ts';
import { coversGas } from '../checks/fee.ts';
import type { RelayerContext } from './context.ts';
import { gatherWrites } from './gatherWrites.ts';
import { type Stage, type SubmissionPlan, simulateSubmission } from './simulateSubmission.ts';
import type { OpenRequest } from './states.ts';

/** Those whose fees still pay at the price of this moment, each with its gas. */
function listPaid(
  { inFlight, policy }: RelayerContext,
  requests: readonly OpenRequest[],
  gasPrice: bigint,
): readonly OpenRequest[] {
  if (gasPrice > policy.maxFeePerGas) return [];
  return requests.flatMap((request) => {
    const status = inFlight.status(request.requestId);
    if (status?.kind !== 'ready') return [];
    // The fee less what comes beside the gas, as it was when it was checked; the simulation asks again.
    const { gas, feeWei } = status;
    return coversGas({ feeWei, gas, gasPrice, extraWei: 0n, marginPercent: policy.feeMarginPercent })
      ? [{ ...request, gas }]
      : [];
  });
}

async function plan(context: RelayerContext, requests: readonly OpenRequest[]): Promise<readonly SubmissionPlan[]> {
  const { state } = context.chain;
  const [head, forwarder, seconds] = await Promise.all([state.head(), state.policy(), state.seconds()]);
  const stage: Stage = { head, forwarder, seconds };
  const paid = listPaid(context, requests, head.gasPrice);
  const groups = gatherWrites(paid, {
    maxBatchSize: context.policy.maxBatchSize,
    batchCosts: context.inFlight.batchCosts,
  });
  const planned = groups.map((group) => simulateSubmission(context, { requests: group, stage }));
  return (await Promise.all(planned)).flat();
}

/** @returns none if the node does not answer */
async function planNow(context: RelayerContext, requests: readonly OpenRequest[]): Promise<readonly SubmissionPlan[]> {
  try {
    return await plan(context, requests);
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    context.events.emit({ type: 'fault', where: 'chain' });
    return [];
  }
}

/**
 * Submits what was checked a moment ago, at once: writes of many users together, anything else alone. What no longer pays, what its
 * very transaction would not carry out, and everything while the node does not answer, is reviewed until it can be submitted.
 *
 * @param requests - `claimed`; the paid ones become `submitted`, on the disk before the sender gets the call
 * @returns all of them: `followSubmission` takes on what is `submitted`, `reviewClaim` the rest
 */
export async function submitClaims(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  const { now, journal, inFlight } = context;
  const plans = await planNow(context, requests);
  const submissions = plans.flatMap((each) => (each.kind === 'ready' ? [each.submission] : []));
  if (submissions.length > 0) journal.submit(submissions, { by: 'submitClaims', nowMs: now() });
  const submitted = new Set(submissions.flatMap(({ requestIds }) => requestIds));
  const reasons = new Map(
    plans.flatMap((each) => (each.kind === 'ready' ? [] : each.requestIds.map((id) => [id, each.reason] as const))),
  );
  for (const { requestId } of requests) {
    if (submitted.has(requestId)) continue;
    const reason = reasons.get(requestId);
    const status = inFlight.status(requestId);
    const sinceMs = status?.refusal?.sinceMs ?? now();
    const refusal = reason === undefined ? undefined : { reason, sinceMs, lastMs: now() };
    inFlight.note(requestId, { kind: 'blocked', sinceMs: now(), ...(refusal && { refusal }) });
  }
  return requests.map(({ requestId }) => requestId);
}
