import { createBackOff } from '@prism-gateway/runtime';
import { type Sender, SenderError, type Sent } from '@prism-gateway/sender';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { ChainState } from '../chain/watchChain.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { AskChain } from './askChain.ts';
import { type CostPorts, countCancel, countCosts, noteLoss, type RequestCost } from './countCosts.ts';
import type { BearOut } from './createBearOut.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import type { Ended, OpenRequest, Submission } from './openRequest.ts';
import { type EventContext, type Revert, readFailure, readOutcomes } from './readOutcomes.ts';

/** Pauses while a nonce is used and the node's logs do not show by what, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** What following goes through. */
export interface FollowPorts extends CostPorts {
  readonly sender: Pick<Sender, 'send' | 'get'>;
  readonly askChain: AskChain;
  /** Whether other nodes bear out that a transaction is mined. */
  readonly bearOut: BearOut;
  readonly chain: Pick<ChainReader, 'replay' | 'simulate'>;
  /** What digests are made for. */
  readonly recovery: EventContext;
  readonly state: Pick<ChainState, 'policy' | 'seconds'>;
  readonly journal: Pick<Journal, 'move' | 'submission' | 'addTotals'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'note' | 'drop'>;
  /** Takes requests on while others of the same call are still followed. */
  readonly advance: (requestIds: readonly string[]) => void;
  /** Blocks that settle a transaction, the including one counted. */
  readonly confirmations: number;
  readonly notes: Pick<ChainNotes, 'fault' | 'log' | 'mined' | 'earned' | 'lost' | 'spent'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** `submitted` becomes `claimed`: nothing of a call is on the chain, and each of its requests is to be checked again, and goes alone. */
function returnToClaimed(ports: FollowPorts, requests: readonly OpenRequest[]): readonly string[] {
  const { journal, inFlight, now } = ports;
  journal.move(requests.map(({ requestId }) => ({ requestId, to: 'claimed', by: 'followSubmission', nowMs: now() })));
  for (const { requestId } of requests) {
    if (inFlight.standing(requestId) !== undefined) inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  }
  return requests.map(({ requestId }) => requestId);
}

/** `submitted` becomes `mined`: the outcome is known. */
function end({ journal, now }: FollowPorts, ended: readonly Ended[]): readonly string[] {
  const nowMs = now();
  const move = ({ requestId, outcome }: Ended) =>
    ({ requestId, to: 'mined', by: 'followSubmission', outcome, nowMs }) as const;
  journal.move(ended.map(move));
  return ended.map(({ requestId }) => requestId);
}

/** What the sender knows after a restart is followed; of what it does not, nothing was sent, and time has passed since its check. */
function isForgotten({ sender, inFlight }: FollowPorts, { intentId }: Submission, requests: readonly OpenRequest[]) {
  return sender.get(intentId) === undefined && requests.some(({ requestId }) => !inFlight.standing(requestId));
}

/**
 * Hands a journalled call to the sender, waits for its one transaction, and reads what the Forwarder says of each request.
 *
 * @param ports - sender, chain, journal, and what is under way
 * @param requests - `submitted` in one call; they become `mined`, or `claimed` again where nothing of them is on the chain
 * @returns those that have a next move
 */
export async function followSubmission(
  ports: FollowPorts,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  const { sender, confirmations, notes, journal } = ports;
  const submission = journal.submission(requests[0]?.intentId ?? '');
  if (submission === undefined || isForgotten(ports, submission, requests)) return returnToClaimed(ports, requests);
  const { intentId, to, data, gasLimit, maxFeePerGas, expiresAtMs } = submission;
  const bounds = { ...(maxFeePerGas !== undefined && { maxFeePerGas }), ...(expiresAtMs && { expiresAtMs }) };
  const options = { ...bounds, confirmations, whenGasTooHigh: 'reject' } as const;
  try {
    return await settleSent(ports, requests, await sender.send(intentId, { to, data, gasLimit }, options));
  } catch (error) {
    if (!(error instanceof SenderError)) throw error;
    // Not known: the next start goes on from the journal.
    if (error.code === 'CLOSED' || error.code === 'JOURNAL_FAILED') return [];
    notes.fault('send');
    const isOwnFault = error.code === 'TRANSACTION_REFUSED' && requests.length === 1;
    countCancel(ports, { requests, spentWei: error.spentWei, blame: isOwnFault ? 'signers' : 'nobody' });
    notes.log.warn({ intentId, code: error.code, requests: requests.length }, 'not sent; checking again');
    return returnToClaimed(ports, requests);
  }
}

/** Waits until the nodes agree on a transaction. @returns undefined where the signal ended the waiting: the next start goes on */
async function awaitAgreement({ bearOut, notes, random, signal }: FollowPorts, sent: Sent) {
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    const word = await bearOut(sent);
    if (word !== 'unsettled') {
      if (word === 'false') notes.log.error({ txHash: sent.txHash }, 'a node has made a receipt up; checking again');
      return word === 'true';
    }
    notes.fault('chain');
    if (!(await backOff.wait())) return undefined;
  }
}

async function settleSent(
  ports: FollowPorts,
  requests: readonly OpenRequest[],
  sent: Sent,
): Promise<readonly string[]> {
  const isTrue = await awaitAgreement(ports, sent);
  if (isTrue === undefined) return [];
  if (!isTrue) return returnToClaimed(ports, requests);
  const read = readOutcomes(ports.recovery, { requests, sent });
  const { outcomes, untold } = read;
  const costs = await countCosts(ports, { sent, requests, read });
  const told = [...outcomes].map(([requestId, outcome]) => ({ requestId, outcome }));
  // They wait for none of those that have to be asked for.
  ports.advance(end(ports, told));
  // Whose fault it is that a batch has reverted as a whole, nobody knows: each of its requests is checked again, and goes alone.
  if (requests.length > 1 && sent.status === 'reverted') {
    for (const cost of costs.values()) noteLoss(ports, cost, 'nobody');
    return returnToClaimed(ports, untold);
  }
  const settled = untold.map((request) => settleUntold(ports, request, { sent, cost: costs.get(request.requestId) }));
  return (await Promise.all(settled)).flat();
}

/** A transaction of ours is mined and did not execute the request: somebody else's may have, or there is a reason. */
async function settleUntold(
  ports: FollowPorts,
  request: OpenRequest,
  { sent, cost }: { readonly sent: Sent; readonly cost: RequestCost | undefined },
): Promise<readonly string[]> {
  const { requestId } = request;
  // Somebody else was faster, or the chain is to blame: not its signer.
  const noteCost = (blame: 'signers' | 'nobody') => cost !== undefined && noteLoss(ports, cost, blame);
  const { random, signal, recovery, askChain } = ports;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  let revert: Revert | undefined;
  for (;;) {
    try {
      const answer = await askChain(request, sent.blockNumber);
      if (answer.kind === 'executed') {
        noteCost('nobody');
        return end(ports, [{ requestId, outcome: { status: 'success', txHash: answer.txHash } }]);
      }
      if (answer.kind !== 'unsettled') {
        revert = readFailure(recovery, { request, sent }) ?? (await findRevert(ports, request, sent));
        break;
      }
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      ports.notes.fault('chain');
    }
    if (!(await backOff.wait())) return [];
  }
  // That it came too early is the chain's own doing, however often. Anything else was paid for once, and never is again.
  noteCost(isTooEarly(revert) ? 'nobody' : 'signers');
  if (isTooEarly(revert)) return returnToClaimed(ports, [request]);
  const errorMessage =
    revert === undefined ? `transaction ${sent.txHash} was reverted without a reason` : decodeReason(revert.reverted);
  return end(ports, [{ requestId, outcome: { status: 'failed', errorMessage } }]);
}

function isTooEarly(revert: Revert | undefined): boolean {
  return revert !== undefined && nameReason(revert.reverted) === 'RequestNotYetOpen';
}

/**
 * Repeats a reverted call in its block to learn its reason; where the node has forgotten the block's state, it is repeated now.
 *
 * @returns undefined where it would not revert
 * @throws ChainError where the node does not answer
 */
async function findRevert(
  { chain, journal, state }: FollowPorts,
  { intentId }: OpenRequest,
  { blockNumber }: Sent,
): Promise<Revert | undefined> {
  const submission = journal.submission(intentId ?? '');
  if (submission === undefined) return undefined;
  const revert = await chain.replay(submission.data, blockNumber).catch(() => undefined);
  if (revert !== undefined) return revert;
  const simulated = await chain.simulate(submission.data, { seconds: await state.seconds() });
  return 'reverted' in simulated ? simulated : undefined;
}
