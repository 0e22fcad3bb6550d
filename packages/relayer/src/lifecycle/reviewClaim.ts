import { createBackOff } from '@prism-gateway/runtime';
import { isGatewayError } from '@prism-gateway/sdk';
import { ChainError } from '../chain/chainError.ts';
import type { CheckRequests } from '../checks/checkRequests.ts';
import { createNonceSearch, type NonceSearch } from '../checks/createNonceSearch.ts';
import type { FindExpiry } from '../checks/screenRequests.ts';
import type { LeaveReason, Verdict } from '../checks/verdict.ts';
import type { RequestGateway } from '../gateway/requestGateway.ts';
import type { Journal } from '../journal/openJournal.ts';
import type { RelayPolicy } from '../settings/settings.ts';
import type { AskChain } from './askChain.ts';
import type { BearRefusal } from './createBearRefusal.ts';
import type { ChainNotes } from './createChainNotes.ts';
import type { InFlight } from './createInFlight.ts';
import { createGapQuestion, type GapPorts } from './giveUpBlocked.ts';
import type { OpenRequest, Outcome } from './openRequest.ts';

/** Pauses between two looks at a claimed request that cannot be submitted now, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface ReviewPorts {
  readonly gateway: Pick<RequestGateway, 'release'> & GapPorts['gateway'];
  readonly recovery: GapPorts['recovery'];
  readonly askChain: AskChain;
  readonly check: CheckRequests;
  readonly bearRefusal: BearRefusal;
  readonly findExpiry: FindExpiry;
  readonly journal: Pick<Journal, 'move' | 'judge'>;
  readonly inFlight: Pick<InFlight, 'standing' | 'note' | 'drop'>;
  readonly policy: Pick<RelayPolicy, 'giveUpMs'>;
  readonly notes: Pick<ChainNotes, 'fault' | 'log'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What a look has found; undefined: wait and look again. */
type Finding =
  | { readonly kind: 'ready'; readonly gas: bigint; readonly feeWei: bigint }
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  /** This relayer does not carry it out, and another one may. */
  | { readonly kind: 'givenBack'; readonly reason: LeaveReason };

const failed = (errorMessage: string): Finding => ({ kind: 'ended', outcome: { status: 'failed', errorMessage } });

/** What forbids this relayer a request, whatever the chain does next. */
const FORBIDDEN: ReadonlySet<LeaveReason> = new Set(['action', 'sponsor', 'wallet', 'budget']);
/** What may be otherwise in a moment. */
const TOO_DEAR: ReadonlySet<LeaveReason> = new Set(['fee', 'gasPrice']);

/** Why a claimed request is reported failed that the gateway does not take back; undefined where waiting may help. */
function explainRefusal(reason: LeaveReason, action: string): string | undefined {
  if (reason === 'action') return `the relayer that claimed it does not carry out ${action}`;
  if (reason === 'sponsor') return 'the relayer that claimed it does not add so many credits to a prism';
  if (reason === 'wallet') return 'the relayer that claimed it does not serve contract wallets of this code';
  return undefined;
}

/** A claimed request that would revert is given up after the same patience as before a claim; one that others may carry out is given back. */
function judge({ inFlight, now, policy }: ReviewPorts, request: OpenRequest, verdict: Verdict): Finding | undefined {
  if (verdict.kind === 'settle') return failed(verdict.errorMessage);
  const standing = inFlight.standing(request.requestId);
  if (verdict.kind === 'ready') {
    const { refusal } = standing ?? {};
    // It was refused once more after all that time: one refusal may have been of the chain as it was then.
    if (refusal !== undefined && refusal.lastMs - refusal.sinceMs >= policy.giveUpMs) return failed(refusal.reason);
    return { kind: 'ready', gas: verdict.gas, feeWei: verdict.feeWei };
  }
  const { reason, errorMessage = 'it would revert' } = verdict;
  const sinceMs = standing?.kind === 'blocked' ? standing.sinceMs : now();
  // The check says so, too: there is nothing that only the transaction shows.
  if (standing?.refusal !== undefined) inFlight.note(request.requestId, { kind: 'blocked', sinceMs });
  const isPatient = now() - sinceMs < policy.giveUpMs;
  if (FORBIDDEN.has(reason) || (TOO_DEAR.has(reason) && !isPatient)) return { kind: 'givenBack', reason };
  if ((reason === 'reverts' || reason === 'nonceAhead') && !isPatient) return failed(errorMessage);
  return undefined;
}

/** `claimed` becomes `lost`, where the gateway takes it back; where it knows no such thing, what nobody will carry out is failed. */
async function giveBack(ports: ReviewPorts, request: OpenRequest, reason: LeaveReason): Promise<Finding | undefined> {
  const { gateway, journal, inFlight, notes, now } = ports;
  const { requestId, record } = request;
  const result = await gateway.release(requestId);
  if (result === 'unknown') return undefined;
  if (result === 'absent') {
    const errorMessage = explainRefusal(reason, record.action);
    return errorMessage === undefined ? undefined : failed(errorMessage);
  }
  journal.move([{ requestId, to: 'lost', by: 'reviewClaim', nowMs: now() }]);
  inFlight.drop(requestId);
  notes.log.info({ requestId, reason }, 'given back');
  return { kind: 'givenBack', reason };
}

/** What the looks at one request remember. */
interface Memory {
  readonly search: NonceSearch;
  readonly mayStillCome: TurnPatience;
}

/** Looks once: what the chain says of it comes first, then its age, then a check as before a claim. */
async function look(
  ports: ReviewPorts,
  request: OpenRequest,
  { search, mayStillCome }: Memory,
): Promise<Finding | undefined> {
  const { requestId, record } = request;
  // Before the chain is asked: what was carried out in its last moment is seen.
  const expiry = await ports.findExpiry(record);
  const answer = await ports.askChain(request);
  if (answer.kind === 'executed') return { kind: 'ended', outcome: { status: 'success', txHash: answer.txHash } };
  if (answer.kind === 'unsettled') return undefined;
  if (answer.kind === 'replaced') return failed(answer.reason);
  if (expiry !== undefined) return (await ports.bearRefusal(request)) ? failed(expiry) : undefined;
  const { verdicts, failures } = await ports.check({ candidates: [{ record, search }] });
  const failure = failures.get(requestId);
  if (failure !== undefined) throw failure;
  const verdict = verdicts.get(requestId);
  if (verdict === undefined) return undefined;
  ports.journal.judge([{ record, verdict, nowMs: ports.now() }]);
  const finding = judge(ports, request, verdict);
  const standing = ports.inFlight.standing(requestId);
  // Beyond all patience it was before its claim, when the same was asked.
  const isAsked = finding?.kind === 'ended' && standing?.kind === 'blocked' && standing.sinceMs > 0;
  if (isAsked && (await mayStillCome(verdict))) {
    ports.inFlight.note(requestId, { ...standing, sinceMs: ports.now() });
    return undefined;
  }
  // A node that has fallen behind, or lies, may say of anything that it would revert.
  return finding?.kind === 'ended' && !(await ports.bearRefusal(request)) ? undefined : finding;
}

async function reviewOne(ports: ReviewPorts, request: OpenRequest): Promise<readonly string[]> {
  const { journal, inFlight, notes, now, random, signal } = ports;
  const { requestId } = request;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  const search = createNonceSearch(request.record, request.signatures);
  const memory = { search, mayStillCome: createTurnPatience(ports) };
  // What looks well here, and does not where it is about to be sent, is not looked at without a pause.
  if (inFlight.standing(requestId)?.refusal !== undefined) await backOff.wait();
  while (!signal.aborted) {
    try {
      const found = await look(ports, request, memory);
      const finding = found?.kind === 'givenBack' ? await giveBack(ports, request, found.reason) : found;
      if (finding?.kind === 'givenBack') return [];
      if (finding?.kind === 'ready') {
        const { refusal } = inFlight.standing(requestId) ?? {};
        inFlight.note(requestId, { ...finding, ...(refusal && { refusal }) });
      }
      if (finding?.kind === 'ended') {
        journal.move([{ requestId, to: 'mined', by: 'reviewClaim', outcome: finding.outcome, nowMs: now() }]);
      }
      if (finding !== undefined) return [requestId];
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      notes.fault('chain');
      notes.log.warn({ requestId, reason: error.message }, 'chain did not answer');
    }
    if (!(await backOff.wait())) break;
  }
  return [];
}

/**
 * Looks at claimed requests that cannot be submitted as they are: asks the chain what became of them and checks them again, until
 * each can be submitted, or is `mined`: executed, or failed for a reason that waiting does not mend.
 *
 * @param requests - `claimed`
 * @returns those that go on; none where the signal ended the looking
 */
export async function reviewClaim(ports: ReviewPorts, requests: readonly OpenRequest[]): Promise<readonly string[]> {
  return (await Promise.all(requests.map((request) => reviewOne(ports, request)))).flat();
}

/** Whether the turn of a claimed request may still come. @param verdict - found a moment ago */
type TurnPatience = (verdict: Verdict | undefined) => Promise<boolean>;

/**
 * Makes the question whether the turn of a claimed request may still come: the request that goes before it is open, maybe in a transaction
 * of this very relayer, or was a moment ago. The chain was read before the gateway: what had that nonce may have ended in between, and
 * only the next look tells.
 */
function createTurnPatience(ports: GapPorts): TurnPatience {
  let missing: bigint | undefined;
  return async function mayStillCome(verdict) {
    if (verdict?.kind !== 'leave' || verdict.gap === undefined) return false;
    const { nonce } = verdict.gap;
    try {
      if (await createGapQuestion(ports)(verdict.gap)) {
        missing = undefined;
        return true;
      }
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      return true;
    }
    const isNew = missing !== nonce;
    missing = nonce;
    return isNew;
  };
}
