import { createBackOff } from '@prism-gateway/node';
import { ChainError } from '../chain/chainError.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { createNonceSearch, type NonceSearch } from '../checks/createNonceSearch.ts';
import { type Leave, ruleOf, type Verdict } from '../checks/leaveReasons.ts';
import { findExpiry } from '../checks/screenRequests.ts';
import { confirmRevert } from '../nodes/confirmRevert.ts';
import { findOutcome } from '../nodes/findOutcome.ts';
import { firstEvaluation } from './candidates.ts';
import { findLeaseEnd } from './confirmClaim.ts';
import type { RelayerContext } from './context.ts';
import { mayBeAwaited } from './giveUpBlocked.ts';
import type { OpenRequest, Outcome } from './states.ts';

/** Pauses between two looks at a claimed request that cannot be submitted now, in milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 10_000 };

/** The result of a look; undefined: wait and look again. */
type Finding =
  | { readonly kind: 'ready'; readonly gas: bigint; readonly feeWei: bigint }
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  /** This relayer does not carry it out, and another one may. */
  | { readonly kind: 'givenBack'; readonly verdict: Leave };

const LAPSED = { kind: 'leave', reason: 'unclaimed' } as const;

const isLapsed = (context: RelayerContext, { claimedAtMs }: OpenRequest) =>
  context.now() >= findLeaseEnd(context, claimedAtMs);

const failed = (errorMessage: string): Finding => ({ kind: 'ended', outcome: { status: 'failed', errorMessage } });

/** A claimed request that would revert is given up after the same patience as before a claim; one that others may carry out is given back. */
function evaluate(context: RelayerContext, request: OpenRequest, verdict: Verdict): Finding | undefined {
  const { inFlight, now, policy } = context;
  if (verdict.kind === 'hopeless') return failed(verdict.errorMessage);
  // Sent now, it would have expired at once; the next claim, by whomever, has a lease of its own.
  if (isLapsed(context, request)) return { kind: 'givenBack', verdict: LAPSED };
  const status = inFlight.status(request.requestId);
  if (verdict.kind === 'ready') {
    const { refusal } = status ?? {};
    // It was refused once more after all that time: one refusal may have been of the chain as it was then.
    if (refusal !== undefined && refusal.lastMs - refusal.sinceMs >= policy.giveUpMs) return failed(refusal.reason);
    return { kind: 'ready', gas: verdict.gas, feeWei: verdict.feeWei };
  }
  const { reason, errorMessage = 'it would revert' } = verdict;
  const sinceMs = status?.kind === 'blocked' ? status.sinceMs : now();
  // The check says so, too: there is nothing that only the transaction shows.
  if (status?.refusal !== undefined) inFlight.note(request.requestId, { kind: 'blocked', sinceMs });
  const isPatient = now() - sinceMs < policy.giveUpMs;
  const { isForbidden, finality } = ruleOf(reason);
  if (isForbidden || (finality === 'givenBack' && !isPatient)) return { kind: 'givenBack', verdict };
  return finality === 'fails' && !isPatient ? failed(errorMessage) : undefined;
}

/** `claimed` becomes `lost`, if the gateway takes it back; if it knows no such thing, what nobody will carry out is failed. */
async function giveBack(
  { gateway, journal, inFlight, events, now }: RelayerContext,
  request: OpenRequest,
  verdict: Leave,
): Promise<Finding | undefined> {
  const { requestId, record } = request;
  const { reason } = verdict;
  const result = await gateway.release(requestId);
  if (result === 'unknown') return undefined;
  if (result === 'absent') {
    const { failure } = ruleOf(reason);
    return failure === undefined ? undefined : failed(failure);
  }
  const nowMs = now();
  journal.move([{ requestId, to: 'lost', by: 'reviewClaim', nowMs }]);
  // The queue is to show it again when it may be otherwise.
  journal.recordVerdicts([firstEvaluation({ record, verdict, nowMs })]);
  inFlight.drop(requestId);
  events.emit({ type: 'claim-released', requestId, reason });
  return { kind: 'givenBack', verdict };
}

/** Notes a verdict for people; no queue looks at what is claimed. */
function recordVerdict(
  { journal, inFlight, now }: RelayerContext,
  { requestId, record }: OpenRequest,
  verdict: Verdict,
) {
  const status = inFlight.status(requestId);
  const sinceMs = status?.kind === 'blocked' ? status.sinceMs : now();
  journal.recordVerdicts([{ record, verdict, sinceMs, recheckAtMs: Number.POSITIVE_INFINITY, nowMs: now() }]);
}

/** The looks' memory of one request. */
interface Memory {
  readonly search: NonceSearch;
  readonly mayStillCome: MayStillCome;
}

/** Looks once: what the chain says of it comes first, then its age, then a check as before a claim. */
async function look(
  context: RelayerContext,
  request: OpenRequest,
  { search, mayStillCome }: Memory,
): Promise<Finding | undefined> {
  const { inFlight, now } = context;
  const { requestId, record } = request;
  // Before the chain is asked: what was carried out in its last moment is seen.
  const expiry = await findExpiry(context, record);
  const answer = await findOutcome(context, request);
  if (answer.kind === 'executed') return { kind: 'ended', outcome: { status: 'success', txHash: answer.txHash } };
  if (answer.kind === 'undecided') return undefined;
  if (answer.kind === 'replaced') return failed(answer.reason);
  if (expiry !== undefined) return (await confirmRevert(context, request)) === 'confirmed' ? failed(expiry) : undefined;
  const { verdicts, failures } = await checkRequests(context, { candidates: [{ record, search, isTouched: true }] });
  const failure = failures.get(requestId);
  if (failure !== undefined) throw failure;
  const verdict = verdicts.get(requestId);
  if (verdict === undefined) return undefined;
  recordVerdict(context, request, verdict);
  const finding = evaluate(context, request, verdict);
  const status = inFlight.status(requestId);
  // Beyond all patience it was before its claim, when the same was asked.
  const isAsked = finding?.kind === 'ended' && status?.kind === 'blocked' && status.sinceMs > 0;
  if (isAsked && (await mayStillCome(verdict))) {
    inFlight.note(requestId, { ...status, sinceMs: now() });
    return undefined;
  }
  if (finding?.kind !== 'ended') return finding;
  // A node that has fallen behind, or lies, may say of anything that it would revert; and what was carried out since the first question would.
  const isBlocked = status?.kind === 'blocked';
  const blocked = { ...request, signatures: search.signatures(), missing: isBlocked ? status.missing : undefined };
  const revert = await confirmRevert(context, blocked);
  // Its wait begins anew, in the queue.
  if (revert === 'awaited' && isBlocked && status.sinceMs === 0 && verdict.kind === 'leave')
    return { kind: 'givenBack', verdict };
  return revert === 'confirmed' && (await findOutcome(context, request)).kind === 'open' ? finding : undefined;
}

/**
 * Looks once. What the nodes do not agree on, or do not say, is given back with the end of its lease: the next claim has one of its own, and
 * nobody is idle beyond one.
 */
async function lookOrLapse(
  context: RelayerContext,
  request: OpenRequest,
  memory: Memory,
): Promise<Finding | undefined> {
  try {
    const found = await look(context, request, memory);
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    const { requestId } = request;
    context.events.emit({ type: 'claim-unreviewed', where: 'chain', requestId, reason: error.message });
  }
  return isLapsed(context, request) ? { kind: 'givenBack', verdict: LAPSED } : undefined;
}

async function reviewOne(context: RelayerContext, request: OpenRequest): Promise<readonly string[]> {
  const { journal, inFlight, now, random, signal } = context;
  const { requestId } = request;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  const search = createNonceSearch(request.record, request.signatures);
  const memory = { search, mayStillCome: createGapQuestionForClaim(context) };
  // A request that looks well here, and not right before it is sent, is not looked at without a pause.
  if (inFlight.status(requestId)?.refusal !== undefined) await backOff.wait();
  while (!signal.aborted) {
    const found = await lookOrLapse(context, request, memory);
    const finding = found?.kind === 'givenBack' ? await giveBack(context, request, found.verdict) : found;
    if (finding?.kind === 'givenBack') return [];
    if (finding?.kind === 'ready') {
      const { refusal } = inFlight.status(requestId) ?? {};
      inFlight.note(requestId, { ...finding, ...(refusal && { refusal }) });
    }
    if (finding?.kind === 'ended') {
      journal.move([{ requestId, to: 'finalized', by: 'reviewClaim', outcome: finding.outcome, nowMs: now() }]);
    }
    if (finding !== undefined) return [requestId];
    if (!(await backOff.wait())) break;
  }
  return [];
}

/**
 * Looks at claimed requests that cannot be submitted as they are: asks the chain what became of them and checks them again, until
 * each can be submitted, or is `finalized`: executed, or failed for a reason that waiting does not mend.
 *
 * @param requests - `claimed`
 * @returns those that go on; none if the signal ended the looking
 */
export async function reviewClaim(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  return (await Promise.all(requests.map((request) => reviewOne(context, request)))).flat();
}

/** Whether the turn of a claimed request may still come. @param verdict - found a moment ago */
type MayStillCome = (verdict: Verdict | undefined) => Promise<boolean>;

/**
 * Makes the question whether the turn of a claimed request may still come: the request that goes before it is open, maybe in a transaction
 * of this very relayer, or was a moment ago. The chain was read before the gateway: what had that nonce may have ended in between, and
 * only the next look shows.
 */
function createGapQuestionForClaim(context: RelayerContext): MayStillCome {
  let missing: bigint | undefined;
  return async function mayStillCome(verdict) {
    if (verdict?.kind !== 'leave' || verdict.gap === undefined) return false;
    const { nonce } = verdict.gap;
    if (await mayBeAwaited(context, verdict.gap)) {
      missing = undefined;
      return true;
    }
    const isNew = missing !== nonce;
    missing = nonce;
    return isNew;
  };
}
