import { ChainError } from '../chain/chainError.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { coversGas } from '../checks/fee.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { BatchCostTracker } from './createBatchCostTracker.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import { gatherWrites } from './gatherWrites.ts';
import type { OpenRequest } from './openRequest.ts';
import { type Rehearsal, type RehearsePorts, rehearseSubmission, type Stage } from './rehearseSubmission.ts';

/** What submitting goes through. */
export interface SubmitPorts extends RehearsePorts {
  readonly state: Pick<ChainState, 'head' | 'policy' | 'seconds'>;
  readonly journal: Pick<Journal, 'submit'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'note'>;
  readonly batchCosts: BatchCostTracker;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas' | 'maxBatchSize' | 'creditsPerEth'>;
  readonly notes: Pick<ChainNotes, 'fault'>;
}

/** Those whose fees still pay at the price of this moment, each with its gas. */
function listPaid(ports: SubmitPorts, requests: readonly OpenRequest[], gasPrice: bigint): readonly OpenRequest[] {
  const { inFlight, policy, settings } = ports;
  if (gasPrice > settings.maxFeePerGas) return [];
  return requests.flatMap((request) => {
    const standing = inFlight.standing(request.requestId);
    if (standing?.kind !== 'ready') return [];
    // The fee less what comes beside the gas, as it was when it was checked; rehearsing asks again.
    const { gas, feeWei } = standing;
    return coversGas({ feeWei, gas, gasPrice, extraWei: 0n, marginPercent: policy.feeMarginPercent })
      ? [{ ...request, gas }]
      : [];
  });
}

async function plan(ports: SubmitPorts, requests: readonly OpenRequest[]): Promise<readonly Rehearsal[]> {
  const { state, settings, batchCosts } = ports;
  const [head, forwarder, seconds] = await Promise.all([state.head(), state.policy(), state.seconds()]);
  const stage: Stage = { head, forwarder, seconds };
  const paid = listPaid(ports, requests, head.gasPrice);
  const groups = gatherWrites(paid, { maxBatchSize: settings.maxBatchSize, batchCosts });
  const planned = groups.map((group) => rehearseSubmission(ports, { requests: group, stage }));
  return (await Promise.all(planned)).flat();
}

/** @returns none where the node does not answer */
async function planNow(ports: SubmitPorts, requests: readonly OpenRequest[]): Promise<readonly Rehearsal[]> {
  try {
    return await plan(ports, requests);
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    ports.notes.fault('chain');
    return [];
  }
}

/**
 * Submits what was checked a moment ago, at once: writes of many users together, anything else alone. What no longer pays, what its
 * very transaction would not carry out, and everything while the node does not answer, is reviewed until it can be submitted.
 *
 * @param ports - journal, price, and what is under way
 * @param requests - `claimed`; the paid ones become `submitted`, on the disk before the sender gets the call
 * @returns all of them: `followSubmission` takes on what is `submitted`, `reviewClaim` the rest
 */
export async function submitClaims(ports: SubmitPorts, requests: readonly OpenRequest[]): Promise<readonly string[]> {
  const { now, journal, inFlight } = ports;
  const rehearsals = await planNow(ports, requests);
  const submissions = rehearsals.flatMap((each) => (each.kind === 'ready' ? [each.submission] : []));
  if (submissions.length > 0) journal.submit(submissions, { by: 'submitClaims', nowMs: now() });
  const submitted = new Set(submissions.flatMap(({ requestIds }) => requestIds));
  const reasons = new Map(
    rehearsals.flatMap((each) =>
      each.kind === 'ready' ? [] : each.requestIds.map((id) => [id, each.reason] as const),
    ),
  );
  for (const { requestId } of requests) {
    if (submitted.has(requestId)) continue;
    const reason = reasons.get(requestId);
    const standing = inFlight.standing(requestId);
    const sinceMs = standing?.refusal?.sinceMs ?? now();
    const refusal = reason === undefined ? undefined : { reason, sinceMs, lastMs: now() };
    inFlight.note(requestId, { kind: 'blocked', sinceMs: now(), ...(refusal && { refusal }) });
  }
  return requests.map(({ requestId }) => requestId);
}
