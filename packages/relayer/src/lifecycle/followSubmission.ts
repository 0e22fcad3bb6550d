import { type RequestExecuted, readRequestExecuted } from '@prism-gateway/contracts';
import { createBackOff } from '@prism-gateway/node';
import { SenderError, type Sent } from '@prism-gateway/sender';
import type { Hex } from 'viem';
import { ChainError } from '../chain/chainError.ts';
import { decodeReason, nameReason, readInvalidSignature } from '../chain/decodeReason.ts';
import { createExecutionTest, listSignedParts } from '../checks/findNonce.ts';
import { confirmReceipt, type ReceiptVerdict } from '../nodes/confirmReceipt.ts';
import { findOutcome } from '../nodes/findOutcome.ts';
import type { RelayerContext } from './context.ts';
import { countCancel, countCosts, type ReadOutcomes, type RequestCost, type Revert, recordLoss } from './countCosts.ts';
import type { Ended, OpenRequest, Outcome, SignatureRef, Submission } from './states.ts';

/** Pauses while the nodes do not agree, or a nonce is used and the node's logs do not show by what, in milliseconds. */
const PAUSES = { firstMs: 250, maxMs: 5000 };

/**
 * How long a transaction is waited for that two nodes do not have, though one has shown its receipt, in milliseconds: all of them were given
 * it, and the next blocks may have it. Sent anew at once, it would be paid twice.
 */
const UNMINED_TIMEOUT_MS = 30_000;

/** `submitted` becomes `claimed`: nothing of a call is on the chain, and each of its requests is to be checked again, and goes alone. */
function returnToClaimed(
  { journal, inFlight, now }: RelayerContext,
  requests: readonly OpenRequest[],
): readonly string[] {
  journal.move(requests.map(({ requestId }) => ({ requestId, to: 'claimed', by: 'finalizeSubmission', nowMs: now() })));
  for (const { requestId } of requests) {
    if (inFlight.status(requestId) !== undefined) inFlight.note(requestId, { kind: 'blocked', sinceMs: now() });
  }
  return requests.map(({ requestId }) => requestId);
}

/** `submitted` becomes `finalized`: the outcome is known. */
function end({ journal, now }: RelayerContext, ended: readonly Ended[]): readonly string[] {
  const nowMs = now();
  const move = ({ requestId, outcome }: Ended) =>
    ({ requestId, to: 'finalized', by: 'finalizeSubmission', outcome, nowMs }) as const;
  journal.move(ended.map(move));
  return ended.map(({ requestId }) => requestId);
}

/** Waits until the nodes agree on a transaction. @returns `undecided` if the signal ended the waiting: the next start goes on */
async function awaitAgreement(context: RelayerContext, sent: Sent): Promise<ReceiptVerdict> {
  const { events, monotonicNow, random, signal } = context;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  const sinceMs = monotonicNow();
  for (;;) {
    const found = await confirmReceipt(context, sent);
    if (found.kind === 'undecided' || (found.kind === 'none' && monotonicNow() - sinceMs < UNMINED_TIMEOUT_MS)) {
      events.emit({ type: 'fault', where: 'chain' });
      if (!(await backOff.wait())) return { kind: 'undecided' };
      continue;
    }
    const { status, blockHash } = found.kind === 'mined' ? found.receipt : { status: undefined, blockHash: undefined };
    if (status !== sent.status || blockHash !== sent.blockHash)
      events.emit({ type: 'receipt-forged', txHash: sent.txHash });
    return found;
  }
}

/** The events that carry the digest of one of a request's signatures. */
function findOwn(
  { chain }: RelayerContext,
  { record }: Pick<OpenRequest, 'record'>,
  events: readonly RequestExecuted[],
): readonly RequestExecuted[] {
  const tests = listSignedParts(record).map((part) => createExecutionTest(chain, part));
  return events.filter((event) => tests.some((isAbout) => isAbout(event)));
}

/** Reads what became of requests from the Forwarder's own events in the transaction that carried them. */
function readOutcomes(
  context: RelayerContext,
  { requests, sent }: { readonly requests: readonly OpenRequest[]; readonly sent: Sent },
): ReadOutcomes {
  const events = readRequestExecuted({ logs: sent.logs, forwarder: context.chain.forwarder });
  const executed = events.filter(({ success }) => success);
  const outcomes = new Map<string, Outcome>();
  const fees = new Map<string, bigint>();
  const blamed = new Map<string, readonly Hex[]>();
  const unresolved: OpenRequest[] = [];
  for (const request of requests) {
    const own = findOwn(context, request, executed);
    // Whether another transaction was faster, the event of a refused entry does not say.
    if (own.length === 0) unresolved.push(request);
    else outcomes.set(request.requestId, { status: 'success', txHash: sent.txHash });
    const paid = own.reduce((sum, { relayerFee }) => sum + relayerFee, 0n);
    fees.set(request.requestId, paid);
    const signers = request.signatures.map(({ signer }) => signer);
    const idle = signers.filter((signer) => !own.some((event) => event.signer.toLowerCase() === signer));
    blamed.set(request.requestId, idle.length === 0 ? signers : idle);
  }
  const refused = events.filter(({ success }) => !success);
  const refusals = new Map(
    unresolved.flatMap((request) => {
      const [own] = findOwn(context, request, refused);
      return own === undefined ? [] : [[request.requestId, { reverted: own.reason }] as const];
    }),
  );
  return { outcomes, fees, blamed, unresolved, refusals };
}

/** A request that its mined transaction has not carried out. */
interface Unresolved {
  readonly request: OpenRequest;
  /** All that the transaction was for. */
  readonly requests: readonly OpenRequest[];
  readonly sent: Sent;
  /** The error by which the Forwarder has refused its entry of a batch. */
  readonly refusal: Revert | undefined;
}

/** A request's outcome; none: it is to be checked again. */
interface RevertedOutcome {
  readonly outcome: Outcome | undefined;
  /** Whose loss it is. */
  readonly blame: 'signers' | 'nobody';
}

function isTooEarly(revert: Revert | undefined): boolean {
  return revert !== undefined && nameReason(revert.reverted) === 'RequestNotYetOpen';
}

/**
 * Whether it was refused because an earlier request of its signer is not on the chain.
 *
 * @returns to blame its signer, if that request was refused in the same transaction; nobody, if a block was taken back
 */
function findOutOfTurn({ request, requests }: Unresolved, revert: Revert | undefined): RevertedOutcome | undefined {
  const refused = readInvalidSignature(revert?.reverted);
  const signer = refused?.signer.toLowerCase();
  const isOwn = (by: SignatureRef, isWanted: (nonce: bigint) => boolean) =>
    by.signer === signer && by.nonce !== undefined && isWanted(by.nonce);
  if (refused === undefined || !request.signatures.some((by) => isOwn(by, (nonce) => nonce > refused.nonce)))
    return undefined;
  const isBeside = requests.some(({ signatures }) =>
    signatures.some((by) => isOwn(by, (nonce) => nonce === refused.nonce)),
  );
  return { outcome: undefined, blame: isBeside ? 'signers' : 'nobody' };
}

/**
 * Repeats a reverted call in its block to learn its reason; if the node has forgotten the block's state, it is repeated now.
 *
 * @returns undefined if it would not revert
 * @throws ChainError if the node does not answer
 */
async function findRevert(
  { chain, journal }: RelayerContext,
  { intentId }: OpenRequest,
  { blockNumber }: Sent,
): Promise<Revert | undefined> {
  const submission = journal.submission(intentId ?? '');
  if (submission === undefined) return undefined;
  const revert = await chain.reader.replay(submission.data, blockNumber).catch(() => undefined);
  if (revert !== undefined) return revert;
  const simulated = await chain.reader.simulate(submission.data, { seconds: await chain.state.seconds() });
  return 'reverted' in simulated ? simulated : undefined;
}

/**
 * That it came too early, or out of turn, is no fault of its own, and its check holds it back until it may go. Anything else was paid for
 * once, and never is again.
 */
function conclude(mined: Unresolved, revert: Revert | undefined): RevertedOutcome {
  if (isTooEarly(revert)) return { outcome: undefined, blame: 'nobody' };
  const outOfTurn = findOutOfTurn(mined, revert);
  if (outOfTurn !== undefined) return outOfTurn;
  const errorMessage =
    revert === undefined
      ? `transaction ${mined.sent.txHash} was reverted without a reason`
      : decodeReason(revert.reverted);
  return { outcome: { status: 'failed', errorMessage }, blame: 'signers' };
}

/**
 * Asks the chain what became of a request that no event of its own mined transaction shows: somebody else's may have carried it out, or
 * there is a reason.
 *
 * @returns undefined if the signal ended the asking
 */
async function findOutcomeOfReverted(context: RelayerContext, mined: Unresolved): Promise<RevertedOutcome | undefined> {
  const { request, sent, refusal } = mined;
  const { random, signal, events } = context;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  for (;;) {
    try {
      const answer = await findOutcome(context, request, sent.blockNumber);
      if (answer.kind === 'executed') return { outcome: { status: 'success', txHash: answer.txHash }, blame: 'nobody' };
      if (answer.kind !== 'undecided') return conclude(mined, refusal ?? (await findRevert(context, request, sent)));
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      events.emit({ type: 'fault', where: 'chain' });
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/** A transaction of ours is mined and did not execute the request. That somebody else was faster, or the chain is to blame, is no fault of its signer. */
async function finalizeUnresolved(
  context: RelayerContext,
  mined: Unresolved,
  cost: RequestCost | undefined,
): Promise<readonly string[]> {
  const { request } = mined;
  const found = await findOutcomeOfReverted(context, mined);
  if (found === undefined) return [];
  if (cost !== undefined) recordLoss(context, cost, found.blame);
  return found.outcome === undefined
    ? returnToClaimed(context, [request])
    : end(context, [{ requestId: request.requestId, outcome: found.outcome }]);
}

/**
 * Reads what the Forwarder says of each request in a mined transaction, as the nodes have it together, and counts what it has cost.
 *
 * @param mined.requests - `submitted` in one call; they become `finalized`, or `claimed` again if nothing of them is on the chain
 * @param mined.outcome - what the sender's node has said
 * @returns those that have a next move: `reportOutcomes` takes on what is `finalized`, `reviewClaim` the rest
 * @see docs/specification.md RELAY-5
 */
async function finalizeSubmission(
  context: RelayerContext,
  { requests, outcome }: { readonly requests: readonly OpenRequest[]; readonly outcome: Sent },
): Promise<readonly string[]> {
  const agreed = await awaitAgreement(context, outcome);
  if (agreed.kind === 'undecided') return [];
  if (agreed.kind === 'none') return returnToClaimed(context, requests);
  const sent = { ...outcome, ...agreed.receipt };
  const read = readOutcomes(context, { requests, sent });
  const { outcomes, unresolved } = read;
  const costs = await countCosts(context, { sent, requests, read });
  // Resolved requests go on without waiting for the rest.
  context.advance(
    end(
      context,
      [...outcomes].map(([requestId, outcome]) => ({ requestId, outcome })),
    ),
  );
  // If a whole batch reverts, each of its requests is tried again alone: whose fault it was, nobody knows.
  if (requests.length > 1 && sent.status === 'reverted') {
    for (const cost of costs.values()) recordLoss(context, cost, 'nobody');
    return returnToClaimed(context, unresolved);
  }
  const ended = unresolved.map((request) => {
    const { requestId } = request;
    const mined = { request, requests, sent, refusal: read.refusals.get(requestId) };
    return finalizeUnresolved(context, mined, costs.get(requestId));
  });
  return (await Promise.all(ended)).flat();
}

/** Whether the sender has forgotten a submission after a restart: then nothing was sent, and time has passed since its check. */
function isForgotten({ chain, inFlight }: RelayerContext, { intentId }: Submission, requests: readonly OpenRequest[]) {
  return chain.sender.get(intentId) === undefined && requests.some(({ requestId }) => !inFlight.status(requestId));
}

/**
 * Hands a journalled call to the sender, waits for its one transaction, and settles what that says of each request.
 *
 * @param requests - `submitted` in one call; they become `finalized`, or `claimed` again if nothing of them is on the chain
 * @returns those that have a next move: `reportOutcomes` takes on what is `finalized`
 */
export async function followSubmission(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  const { chain, policy, events, journal } = context;
  const submission = journal.submission(requests[0]?.intentId ?? '');
  if (submission === undefined || isForgotten(context, submission, requests)) return returnToClaimed(context, requests);
  const { intentId, to, data, gasLimit, maxFeePerGas, expiresAtMs } = submission;
  const bounds = { ...(maxFeePerGas !== undefined && { maxFeePerGas }), ...(expiresAtMs && { expiresAtMs }) };
  const options = { ...bounds, confirmations: policy.confirmations, whenGasTooHigh: 'reject' } as const;
  try {
    const outcome = await chain.sender.send(intentId, { to, data, gasLimit }, options);
    return await finalizeSubmission(context, { requests, outcome });
  } catch (error) {
    if (!(error instanceof SenderError)) throw error;
    // Not known: the next start goes on from the journal, or this one, once the sender's can be written.
    if (error.code === 'CLOSED') return [];
    if (error.code === 'JOURNAL_FAILED') throw error;
    const isOwnFault = error.code === 'TRANSACTION_REFUSED' && requests.length === 1;
    countCancel(context, { requests, spentWei: error.spentWei, blame: isOwnFault ? 'signers' : 'nobody' });
    const { code } = error;
    events.emit({ type: 'submission-failed', where: 'send', intentId, code, requests: requests.length });
    return returnToClaimed(context, requests);
  }
}
