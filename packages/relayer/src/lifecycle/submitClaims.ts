import { encodeForwarderCall } from '@prism-gateway/contracts';
import type { ActionParams } from '@prism-gateway/protocol';
import { createMultiUserBatchParams } from '@prism-gateway/protocol/typed-data';
import type { Simulated } from '@prism-gateway/rpc';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { type BlockHead, type ChainReader, type ForwarderPolicy, nextBlock } from '../chain/chainReader.ts';
import { decodeReason } from '../chain/decodeReason.ts';
import type { ChainState } from '../chain/watchChain.ts';
import { readNothingDone } from '../checks/checkRequest.ts';
import { coversGas, feeInWei, readBatchResults, sumFees } from '../checks/fee.ts';
import { listSignedParts } from '../checks/findNonce.ts';
import { lower, transactionTerms } from '../checks/transactionTerms.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { ChainSettings } from '../settings/chainSettings.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { SimulateTogether } from './createSimulateTogether.ts';
import { type BatchCostTracker, gatherWrites } from './gatherWrites.ts';
import type { OpenRequest, Submission } from './openRequest.ts';

interface SubmitPorts extends RehearsePorts {
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

/** How often a batch is simulated again without the entries that were refused; one that still has some goes nowhere. */
const MAX_REHEARSALS = 3;

interface RehearsePorts {
  readonly chain: Pick<ChainReader, 'forwarder' | 'relayer' | 'extraCost'>;
  /** The last simulation before money is spent. */
  readonly simulateTogether: SimulateTogether;
  readonly policy: Pick<RelayPolicy, 'feeMarginPercent' | 'leaseMs'>;
  readonly settings: Pick<ChainSettings, 'maxFeePerGas' | 'creditsPerEth'>;
  readonly now: () => number;
}

/** The chain as the transaction will meet it. */
interface Stage {
  readonly head: BlockHead;
  readonly forwarder: ForwarderPolicy;
  /** Unix time that the next block is expected to have. */
  readonly seconds: bigint;
}

/** What came of rehearsing: a transaction to send, or why its requests are not sent as they are. */
type Rehearsal =
  | { readonly kind: 'ready'; readonly submission: Submission }
  /** Its very transaction would revert, or its fees do not pay for it. */
  | { readonly kind: 'refused'; readonly requestIds: readonly string[]; readonly reason: string };

/** A multi-user batch of somebody's is worth nothing where none of its entries would be written. */
function readWhole(requests: readonly OpenRequest[], simulated: Simulated): Simulated {
  const [only] = requests;
  return requests.length === 1 && only !== undefined ? readNothingDone(only.record, simulated) : simulated;
}

/** What the fees of those that are carried out are worth to this relayer, in wei. */
function valueFees(
  { settings }: RehearsePorts,
  { requests, stage, returned }: { requests: readonly OpenRequest[]; stage: Stage; returned: Hex },
): bigint {
  const [only] = requests;
  const credits =
    requests.length === 1 && only !== undefined
      ? sumFees(only.record, returned)
      : requests.reduce((sum, { record }) => sum + BigInt(record.params.relayerFee), 0n);
  return feeInWei({ credits, shareBps: stage.forwarder.shareBps, creditsPerEth: settings.creditsPerEth });
}

/**
 * Bounds what may ever be offered for a unit of gas by what the fees are worth, less what comes beside the gas; and the time by the oldest
 * claim's lease, and by when the last of the signatures is too old for the Forwarder.
 */
function bound(
  { policy, settings }: RehearsePorts,
  { requests, stage, feeWei, gas }: { requests: readonly OpenRequest[]; stage: Stage; feeWei: bigint; gas: bigint },
) {
  const claimedAtMs = Math.min(...requests.map((request) => request.claimedAtMs));
  const times = requests.flatMap(({ record }) => listSignedParts(record)).map(({ params }) => BigInt(params.timestamp));
  const [latest = 0n] = times.toSorted((one, other) => (one < other ? 1 : -1));
  const closesAtMs = Number(latest + stage.forwarder.maxAge) * 1000;
  return {
    maxFeePerGas: lower(feeWei / gas, settings.maxFeePerGas),
    expiresAtMs: policy.leaseMs === 0 ? closesAtMs : Math.min(claimedAtMs + policy.leaseMs, closesAtMs),
  };
}

const DOES_NOT_PAY = 'its fee does not pay for the gas that its very transaction uses';

const refuse = (requests: readonly OpenRequest[], reason: string): Rehearsal => ({
  kind: 'refused',
  requestIds: requests.map(({ requestId }) => requestId),
  reason,
});

/** Where nodes do not agree on a batch, each of its requests is planned alone: one that somebody has made for that holds up no other. */
async function rehearseApart(
  ports: RehearsePorts,
  { requests, stage }: { readonly requests: readonly OpenRequest[]; readonly stage: Stage },
): Promise<readonly Rehearsal[]> {
  if (requests.length === 1) return [refuse(requests, 'the nodes do not agree on what its transaction would do')];
  const apart = requests.map((request) => rehearseSubmission(ports, { requests: [request], stage }));
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
 * @throws ChainError where the node does not answer
 * @see docs/specification.md RELAY-15, RELAY-16
 */
export async function rehearseSubmission(
  ports: RehearsePorts,
  planned: { readonly requests: readonly OpenRequest[]; readonly stage: Stage },
): Promise<readonly Rehearsal[]> {
  const { chain, policy, settings, now } = ports;
  const { head, seconds } = planned.stage;
  const refusals: Rehearsal[] = [];
  let { requests } = planned;
  for (let round = 0; round < MAX_REHEARSALS && requests.length > 0; round += 1) {
    const { forwarder, relayer } = chain;
    const draft = planSubmission({ requests, forwarder, relayer, nowMs: now() });
    const singleGas = requests.reduce((sum, request) => sum + (request.gas ?? 0n), 0n);
    const terms = transactionTerms({ gas: singleGas, head, ceiling: settings.maxFeePerGas });
    const simulated = await ports.simulateTogether(draft.data, nextBlock(head, seconds), terms);
    if (simulated === undefined) return [...refusals, ...(await rehearseApart(ports, { ...planned, requests }))];
    const rehearsed = readWhole(requests, simulated);
    if ('reverted' in rehearsed) return [...refusals, refuse(requests, decodeReason(rehearsed.reverted))];
    const { returned } = rehearsed;
    const results = requests.length === 1 ? [] : readBatchResults(returned, requests.length);
    const refused = requests.filter((_, index) => results[index]?.success === false);
    if (refused.length === 0) {
      const feeWei = valueFees(ports, { requests, stage: planned.stage, returned });
      const extra = await chain.extraCost(draft.data, rehearsed.gas);
      const gas = rehearsed.gas + extra.gas;
      const deal = { feeWei, gas, gasPrice: head.gasPrice, extraWei: extra.wei };
      if (!coversGas({ ...deal, marginPercent: policy.feeMarginPercent }))
        return [...refusals, refuse(requests, DOES_NOT_PAY)];
      const submission = {
        ...draft,
        gasLimit: terms.gasLimit,
        ...bound(ports, { requests, stage: planned.stage, feeWei: feeWei - extra.wei, gas }),
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
 * * @param plan.requests - one, or writes of several users
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
