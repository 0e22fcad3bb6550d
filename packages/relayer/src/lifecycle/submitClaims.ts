import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { coversGas } from '../checks/fee.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { BatchCostTracker } from './createBatchCostTracker.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import { gatherWrites } from './gatherWrites.ts';
import type { OpenRequest } from './openRequest.ts';
import { planSubmission } from './planSubmission.ts';

/** What submitting goes through. */
export interface SubmitPorts {
  readonly chain: Pick<ChainReader, 'forwarder' | 'relayer'>;
  readonly state: Pick<ChainState, 'head'>;
  readonly journal: Pick<Journal, 'submit'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'note'>;
  readonly batchCosts: BatchCostTracker;
  readonly policy: Pick<RelayPolicy, 'feeMarginPercent'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas' | 'maxBatchSize'>;
  readonly notes: Pick<ChainNotes, 'fault'>;
  readonly now: () => number;
}

/** What a unit of gas costs now, in wei. @returns undefined where the node does not say */
async function readGasPrice({ state, notes }: SubmitPorts): Promise<bigint | undefined> {
  try {
    return (await state.head()).gasPrice;
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    notes.fault('chain');
    return undefined;
  }
}

/** Those whose fees still pay at the price of this moment, each with its gas. */
function listPaid(ports: SubmitPorts, requests: readonly OpenRequest[], gasPrice: bigint): readonly OpenRequest[] {
  const { inFlight, policy, settings } = ports;
  if (gasPrice > settings.maxFeePerGas) return [];
  return requests.flatMap((request) => {
    const standing = inFlight.standing(request.requestId);
    if (standing?.kind !== 'ready') return [];
    const { gas, feeWei } = standing;
    return coversGas({ feeWei, gas, gasPrice, marginPercent: policy.feeMarginPercent }) ? [{ ...request, gas }] : [];
  });
}

/**
 * Submits what was checked a moment ago, at once: writes of many users together, anything else alone. What no longer pays, and
 * everything while the node does not answer, is reviewed until it can be submitted.
 *
 * @param ports - journal, price, and what is under way
 * @param requests - `claimed`; the paid ones become `submitted`, on the disk before the sender gets the call
 * @returns all of them
 */
export async function submitClaims(ports: SubmitPorts, requests: readonly OpenRequest[]): Promise<readonly string[]> {
  const { settings, batchCosts, chain, now, journal, inFlight } = ports;
  const gasPrice = await readGasPrice(ports);
  const paid = gasPrice === undefined ? [] : listPaid(ports, requests, gasPrice);
  const groups = gatherWrites(paid, { maxBatchSize: settings.maxBatchSize, batchCosts });
  const submissions = groups.map((group) =>
    planSubmission({ requests: group, forwarder: chain.forwarder, relayer: chain.relayer, nowMs: now() }),
  );
  if (submissions.length > 0) journal.submit(submissions, { by: 'submitClaims', nowMs: now() });
  const submitted = new Set(paid.map(({ requestId }) => requestId));
  for (const { requestId } of requests) {
    if (!submitted.has(requestId)) inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  }
  return requests.map(({ requestId }) => requestId);
}
