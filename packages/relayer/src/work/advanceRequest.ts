import { ChainError } from '../chain/chainError.ts';
import { checkRequests } from '../checks/checkRequests.ts';
import { createNonceSearch, type NonceSearch } from '../checks/createNonceSearch.ts';
import { findExpiry } from '../checks/findExpiry.ts';
import type { Verdict } from '../checks/verdict.ts';
import type { OpenRequest } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { askChain } from './askChain.ts';
import { createBackOff } from './backOff.ts';
import { finishRequests } from './reportOutcome.ts';
import { followSubmission, planSubmissions } from './submitRequests.ts';

/** Pauses between two looks at a claimed request that cannot be submitted now, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** What to do with a claimed request next; undefined: wait and look again. */
type Step =
  | { readonly kind: 'submit'; readonly gas: bigint }
  | { readonly kind: 'success'; readonly txHash: `0x${string}` }
  | { readonly kind: 'fail'; readonly errorMessage: string };

/** Why a claimed request is reported failed that stays as it is; undefined where waiting may help. */
function explainFailure(verdict: Extract<Verdict, { readonly kind: 'leave' }>, action: string): string | undefined {
  const { reason, errorMessage = 'it would revert' } = verdict;
  if (reason === 'reverts' || reason === 'nonceAhead') return errorMessage;
  if (reason === 'action') return `the relayer that claimed it does not carry out ${action}`;
  if (reason === 'sponsor') return 'the relayer that claimed it does not add so many credits to a prism';
  return undefined;
}

/** A claimed request that would revert, or that this relayer may not carry out, is given up after the same patience as before a claim. */
function judge(
  relay: Relay,
  verdict: Verdict | undefined,
  { action, sinceMs }: { readonly action: string; readonly sinceMs: number },
): Step | undefined {
  if (verdict === undefined) return undefined;
  if (verdict.kind === 'ready') return { kind: 'submit', gas: verdict.gas };
  if (verdict.kind === 'settle') return { kind: 'fail', errorMessage: verdict.errorMessage };
  const errorMessage = explainFailure(verdict, action);
  if (errorMessage === undefined || relay.now() - sinceMs < relay.policy.giveUpMs) return undefined;
  return { kind: 'fail', errorMessage };
}

async function chooseStep(
  relay: Relay,
  request: OpenRequest,
  { search, sinceMs }: { readonly search: NonceSearch; readonly sinceMs: number },
): Promise<Step | undefined> {
  const { requestId, record } = request;
  // Before the chain is asked: what was carried out in its last moment is seen.
  const expiry = await findExpiry(relay, record);
  const answer = await askChain(relay, request);
  if (answer.kind === 'executed') return { kind: 'success', txHash: answer.txHash };
  if (answer.kind === 'unsettled') return undefined;
  if (answer.kind === 'replaced') {
    const { nonce, txHash } = answer;
    return { kind: 'fail', errorMessage: `its forwarder nonce ${nonce} was used by another request, in ${txHash}` };
  }
  if (expiry !== undefined) return { kind: 'fail', errorMessage: expiry };
  const verdicts = await checkRequests(relay, { candidates: [{ record, search }] });
  return judge(relay, verdicts.get(requestId), { action: record.action, sinceMs });
}

/** @returns whether the request is done with: reported, or left to the journal and the next start */
async function takeStep(relay: Relay, request: OpenRequest, step: Step | undefined): Promise<boolean> {
  const { requestId } = request;
  if (step === undefined) return false;
  if (step.kind !== 'submit') {
    const outcome =
      step.kind === 'success'
        ? ({ status: 'success', txHash: step.txHash } as const)
        : ({ status: 'failed', errorMessage: step.errorMessage } as const);
    await finishRequests(relay, [{ requestId, outcome }]);
    return true;
  }
  const submissions = planSubmissions(relay, [{ ...request, gas: step.gas }]);
  const returned = await Promise.all(submissions.map((submission) => followSubmission(relay, submission)));
  return returned.flat().length === 0;
}

/**
 * Takes a claimed request on from wherever it stands: asks the chain what became of it, checks it again, and submits it as soon
 * as it pays, or reports what is known.
 *
 * @param relay - the relayer on this chain
 * @param requestId - of a request that the journal has as `claimed`
 * @param sinceMs - since when it is known to be blocked, in Unix milliseconds: default now
 */
export async function advanceRequest(relay: Relay, requestId: string, sinceMs = relay.now()): Promise<void> {
  const { journal, random, signal, logger, metrics, settings } = relay;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  let search: NonceSearch | undefined;
  for (;;) {
    const request = journal.get(requestId);
    if (request?.state !== 'claimed' || signal.aborted) return;
    search ??= createNonceSearch(request.record, request.wishes);
    try {
      if (await takeStep(relay, request, await chooseStep(relay, request, { search, sinceMs }))) return;
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
      metrics.faults.inc({ chain: settings.chainName, where: 'chain' });
      logger.warn({ requestId, reason: error.message }, 'chain did not answer');
    }
    if (!(await backOff.wait())) return;
  }
}
