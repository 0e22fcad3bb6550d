import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { Simulated } from '@prism-gateway/node/rpc';
import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Hex } from 'viem';
import { type BlockHead, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { decodeReason } from '../chain/decodeReason.ts';
import { readNothingDone } from '../checks/checkRequest.ts';
import { coversGas, feeInWei, lower, readBatchResults, sumFees, transactionTerms } from '../checks/fee.ts';
import { latestTimestamp } from '../checks/findNonce.ts';
import { simulateAtNodes } from '../nodes/simulateAtNodes.ts';
import { findLeaseEnd } from './confirmClaim.ts';
import type { RelayerContext } from './context.ts';
import type { OpenRequest, Submission } from './states.ts';

/** How often a batch is simulated again without the entries that were refused; one that still has some goes nowhere. */
const MAX_SIMULATIONS = 3;

/** The chain as the transaction will meet it. */
export interface Stage {
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Unix time that the next block is expected to have. */
  readonly seconds: bigint;
}

/** A transaction to send, or why its requests are not sent as they are. */
export type SubmissionPlan =
  | { readonly kind: 'ready'; readonly submission: Submission }
  /** Its very transaction would revert, or its fees do not pay for it. */
  | { readonly kind: 'refused'; readonly requestIds: readonly string[]; readonly reason: string };

/** A multi-user batch of somebody's is worth nothing if none of its entries would be written. */
function readWhole(requests: readonly OpenRequest[], simulated: Simulated): Simulated {
  const [only] = requests;
  return requests.length === 1 && only !== undefined ? readNothingDone(only.record, simulated) : simulated;
}

/** The worth of the successful entries' fees to this relayer, in wei. */
function valueFees(
  { policy }: RelayerContext,
  { requests, stage, returned }: { requests: readonly OpenRequest[]; stage: Stage; returned: Hex },
): bigint {
  const [only] = requests;
  const credits =
    requests.length === 1 && only !== undefined
      ? sumFees(only.record, returned)
      : requests.reduce((sum, { record }) => sum + BigInt(record.params.relayerFee), 0n);
  return feeInWei({ credits, shareBps: stage.forwarder.shareBps, creditsPerEth: policy.creditsPerEth });
}

/**
 * Bounds what may ever be offered for a unit of gas by what the fees are worth, less what comes beside the gas; and the time by the oldest
 * claim's lease, and by when the last of the signatures is too old for the Forwarder.
 */
function bound(
  context: RelayerContext,
  { requests, stage, feeWei, gas }: { requests: readonly OpenRequest[]; stage: Stage; feeWei: bigint; gas: bigint },
) {
  const claimedAtMs = Math.min(...requests.map((request) => request.claimedAtMs));
  const latest = Math.max(...requests.map(({ record }) => Number(latestTimestamp(record))));
  const closesAtMs = (latest + Number(stage.forwarder.maxAge)) * 1000;
  return {
    maxFeePerGas: lower(feeWei / gas, context.policy.maxFeePerGas),
    expiresAtMs: Math.min(findLeaseEnd(context, claimedAtMs), closesAtMs),
  };
}

const DOES_NOT_PAY = 'its fee does not pay for the gas that its very transaction uses';

const refuse = (requests: readonly OpenRequest[], reason: string): SubmissionPlan => ({
  kind: 'refused',
  requestIds: requests.map(({ requestId }) => requestId),
  reason,
});

/** If nodes do not agree on a batch, each of its requests is planned alone: one that somebody has made for that holds up no other. */
async function simulateApart(
  context: RelayerContext,
  { requests, stage }: { readonly requests: readonly OpenRequest[]; readonly stage: Stage },
): Promise<readonly SubmissionPlan[]> {
  if (requests.length === 1) return [refuse(requests, 'the nodes do not agree on what its transaction would do')];
  const apart = requests.map((request) => simulateSubmission(context, { requests: [request], stage }));
  return (await Promise.all(apart)).flat();
}

/**
 * Plans the transaction that carries some requests, and simulates that very transaction: sender, calldata, gas limit, fees and block. Of
 * a batch, entries that would be refused are left out; it is planned and simulated again without them.
 *
 * A batch gets as much gas as its writes would singly: an estimate of the whole could be of one whose entries fail.
 *
 * @param planned.requests - one, or writes of several users, each with its gas
 * @returns a transaction, or why there is none, for each of the requests
 * @throws ChainError if the node does not answer
 * @see docs/specification.md RELAY-15, RELAY-16
 */
export async function simulateSubmission(
  context: RelayerContext,
  planned: { readonly requests: readonly OpenRequest[]; readonly stage: Stage },
): Promise<readonly SubmissionPlan[]> {
  const { chain, policy, now } = context;
  const { head, seconds } = planned.stage;
  const refusals: SubmissionPlan[] = [];
  let { requests } = planned;
  for (let round = 0; round < MAX_SIMULATIONS && requests.length > 0; round += 1) {
    const { forwarder, relayer } = chain;
    const draft = planSubmission({ requests, forwarder, relayer, nowMs: now() });
    const singleGas = requests.reduce((sum, request) => sum + (request.gas ?? 0n), 0n);
    const terms = transactionTerms({ gas: singleGas, head, ceiling: policy.maxFeePerGas });
    const simulated = await simulateAtNodes(context, draft.data, nextBlock(head, seconds), terms);
    if (simulated === undefined) return [...refusals, ...(await simulateApart(context, { ...planned, requests }))];
    const outcome = readWhole(requests, simulated);
    if ('reverted' in outcome) return [...refusals, refuse(requests, decodeReason(outcome.reverted))];
    const { returned } = outcome;
    const results = requests.length === 1 ? [] : readBatchResults(returned, requests.length);
    const refused = requests.filter((_, index) => results[index]?.success === false);
    if (refused.length === 0) {
      const feeWei = valueFees(context, { requests, stage: planned.stage, returned });
      const extra = await chain.reader.extraCost(draft.data, outcome.gas);
      const gas = outcome.gas + extra.gas;
      const deal = { feeWei, gas, gasPrice: head.gasPrice, extraWei: extra.wei };
      if (!coversGas({ ...deal, marginPercent: policy.feeMarginPercent }))
        return [...refusals, refuse(requests, DOES_NOT_PAY)];
      const submission = {
        ...draft,
        gasLimit: terms.gasLimit,
        ...bound(context, { requests, stage: planned.stage, feeWei: feeWei - extra.wei, gas }),
      };
      return [...refusals, { kind: 'ready', submission }];
    }
    for (const request of refused) {
      const result = results[requests.indexOf(request)];
      refusals.push(refuse([request], decodeReason(result?.reason)));
    }
    requests = requests.filter((request) => !refused.includes(request));
  }
  return requests.length === 0 ? refusals : [...refusals, refuse(requests, 'others in its batch change all the time')];
}

/**
 * Makes the call that carries some requests.
 *
 * @param plan.requests - one, or writes of several users
 * @param plan.forwarder - address of the Forwarder
 * @param plan.relayer - the relayer's address, who queues the batch
 * @param plan.nowMs - Unix time in milliseconds
 */
function planSubmission(plan: {
  readonly requests: readonly OpenRequest[];
  readonly forwarder: Hex;
  readonly relayer: Hex;
  readonly nowMs: number;
}): Omit<Submission, 'gasLimit' | 'maxFeePerGas' | 'expiresAtMs'> {
  const { requests, forwarder, relayer, nowMs } = plan;
  const [first] = requests;
  if (first === undefined) throw new TypeError('a submission carries at least one request');
  const call = requests.length === 1 ? first.record : gather(requests, { relayer, nowMs });
  const prefix = requests.length === 1 ? '' : `batch-of-${requests.length}:`;
  return {
    // Each attempt is a sending of its own: the one before has left nothing on the chain.
    intentId: `${prefix}${first.requestId}#${first.attempts + 1}`,
    to: forwarder,
    data: encodeForwarderCall(call).data,
    requestIds: requests.map(({ requestId }) => requestId),
  };
}

function gather(requests: readonly OpenRequest[], { relayer, nowMs }: { relayer: Hex; nowMs: number }) {
  const params = createMultiUserBatchParams({
    signer: relayer,
    timestamp: String(Math.floor(nowMs / 1000)),
    // Only writes are gathered.
    requests: requests.map(({ record }) => record.params as ActionParams<'WRITE_DATA_FOR'>),
  });
  return { action: 'BATCH_MULTI_USER_WRITE_DATA', params } as const;
}
