import { SenderError, type Sent } from '@prism-gateway/sender';
import { formatEther } from 'viem/utils';
import { ChainError } from '../chain/chainError.ts';
import { decodeReason, nameReason } from '../chain/decodeReason.ts';
import type { OpenRequest, Submission } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { askChain } from './askChain.ts';
import { createBackOff } from './backOff.ts';
import { gatherWrites } from './gatherWrites.ts';
import { planSubmission } from './planSubmission.ts';
import { type Revert, readFailure, readOutcomes } from './readOutcomes.ts';
import { type Ended, finishRequests } from './reportOutcome.ts';

/** How often a request is handed to the sender before a transaction that reverts without a reason counts as its end. */
const MAX_ATTEMPTS = 3;
const WHOLE_BPS = 10_000n;
/** Pauses while a nonce is used and the node's logs do not show by what, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/**
 * Notes in the journal how requests are submitted: writes of many users together, anything else alone.
 *
 * @param relay - the relayer on this chain
 * @param requests - `claimed`, checked a moment ago, with their gas; they become `submitted`
 * @returns what has to be followed
 */
export function planSubmissions(relay: Relay, requests: readonly OpenRequest[]): readonly Submission[] {
  const { settings, thrift, chain, now, journal } = relay;
  const groups = gatherWrites(requests, { maxBatchSize: settings.maxBatchSize, thrift });
  const submissions = groups.map((group) =>
    planSubmission({ requests: group, forwarder: chain.forwarder, relayer: chain.relayer, nowMs: now() }),
  );
  journal.submit(submissions, now());
  return submissions;
}

/** Submissions whose requests are still with them: a crash may have come between two of its reports. */
function listSubmitted({ journal }: Relay, { intentId, requestIds }: Submission): readonly OpenRequest[] {
  return requestIds
    .map((requestId) => journal.get(requestId))
    .filter((request): request is OpenRequest => request?.state === 'submitted' && request.intentId === intentId);
}

/**
 * Hands a journalled call to the sender, waits for its one transaction, and reports what the Forwarder says of each request.
 *
 * @param relay - the relayer on this chain
 * @param submission - as the journal has it; known to the sender or not
 * @returns ids of requests of which nothing is on the chain: they are `claimed` again, and are to be taken on
 */
export async function followSubmission(relay: Relay, submission: Submission): Promise<readonly string[]> {
  const { sender, settings, logger, metrics } = relay;
  const { intentId, to, data, gasLimit } = submission;
  const requests = listSubmitted(relay, submission);
  try {
    const sent = await sender.send(intentId, { to, data, gasLimit }, { confirmations: settings.confirmations });
    return await settleSent(relay, { requests, sent });
  } catch (error) {
    if (!(error instanceof SenderError)) throw error;
    // Not known: the next start goes on from the journal.
    if (error.code === 'CLOSED' || error.code === 'JOURNAL_FAILED') return [];
    metrics.faults.inc({ chain: settings.chainName, where: 'send' });
    logger.warn({ intentId, code: error.code, requests: requests.length }, 'not sent; checking again');
    return returnToClaimed(relay, requests);
  }
}

/** Nothing of a call is on the chain: each of its requests is to be checked again, and goes alone. */
function returnToClaimed(relay: Relay, requests: readonly OpenRequest[]): readonly string[] {
  const nowMs = relay.now();
  relay.journal.move(requests.map(({ requestId }) => ({ requestId, to: 'claimed', nowMs })));
  return requests.map(({ requestId }) => requestId);
}

function countSent(
  relay: Relay,
  sending: { readonly requests: readonly OpenRequest[]; readonly sent: Sent; readonly fees: bigint },
): void {
  const { metrics, settings, thrift, logger } = relay;
  const { requests, sent } = sending;
  const chain = settings.chainName;
  const kind = requests.length > 1 ? 'batch' : 'single';
  metrics.transactions.inc({ chain, kind });
  // Counters are floats; the exact amounts are on the chain.
  metrics.gasUsed.inc({ chain }, Number(sent.gasUsed));
  metrics.spentEther.inc({ chain }, Number(formatEther(sent.gasUsed * sent.effectiveGasPrice)));
  logger.info(
    { txHash: sent.txHash, status: sent.status, kind, requests: requests.length, gasUsed: Number(sent.gasUsed) },
    'mined',
  );
  if (kind === 'single' || sent.status === 'reverted') return;
  metrics.batchedWrites.inc({ chain }, requests.length);
  thrift.learn({ gasUsed: sent.gasUsed, singleGas: requests.reduce((sum, { gas = 0n }) => sum + gas, 0n) });
}

async function settleSent(
  relay: Relay,
  { requests, sent }: { readonly requests: readonly OpenRequest[]; readonly sent: Sent },
): Promise<readonly string[]> {
  const { forwarder } = relay.chain;
  const { outcomes, untold, fees } = readOutcomes({ requests, sent, forwarder });
  countSent(relay, { requests, sent, fees });
  if (fees > 0n) {
    const { shareBps } = await relay.state.policy().catch(() => ({ shareBps: WHOLE_BPS }));
    relay.metrics.earnedCredits.inc(
      { chain: relay.settings.chainName },
      Number(formatEther((fees * shareBps) / WHOLE_BPS)),
    );
  }
  const ended: Ended[] = [...outcomes].map(([requestId, outcome]) => ({ requestId, outcome }));
  const returned = untold.map((request) => settleUntold(relay, request, sent));
  await finishRequests(relay, ended);
  return (await Promise.all(returned)).flat();
}

/** A transaction of ours is mined and did not execute the request: somebody else's may have, or there is a reason. */
async function settleUntold(relay: Relay, request: OpenRequest, sent: Sent): Promise<readonly string[]> {
  const { requestId, attempts } = request;
  const { random, signal, chain } = relay;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  let revert: Revert | undefined;
  for (;;) {
    try {
      const answer = await askChain(relay, request, sent.blockNumber);
      if (answer.kind === 'executed') {
        await finishRequests(relay, [{ requestId, outcome: { status: 'success', txHash: answer.txHash } }]);
        return [];
      }
      if (answer.kind !== 'unsettled') {
        revert = readFailure({ request, sent, forwarder: chain.forwarder }) ?? (await findRevert(relay, request, sent));
        break;
      }
    } catch (error) {
      if (!(error instanceof ChainError)) throw error;
    }
    if (!(await backOff.wait())) return [];
  }
  // That it came too early is no fault of the request's, however often.
  if (isTooEarly(revert) || (revert === undefined && attempts < MAX_ATTEMPTS)) return returnToClaimed(relay, [request]);
  const errorMessage =
    revert === undefined ? `transaction ${sent.txHash} was reverted without a reason` : decodeReason(revert.reverted);
  await finishRequests(relay, [{ requestId, outcome: { status: 'failed', errorMessage } }]);
  return [];
}

function isTooEarly(revert: Revert | undefined): boolean {
  return revert !== undefined && nameReason(revert.reverted) === 'RequestNotYetOpen';
}

/**
 * Repeats a reverted call in its block to learn its reason.
 *
 * @returns undefined where it would succeed now
 * @throws ChainError where the node does not answer
 */
async function findRevert(
  { chain, journal, state }: Relay,
  { intentId }: OpenRequest,
  { blockNumber }: Sent,
): Promise<Revert | undefined> {
  const submission = journal.submission(intentId ?? '');
  if (submission === undefined) return undefined;
  // A node may have forgotten the block's state; what it says of now it has to say.
  const revert = await chain.replay(submission.data, blockNumber).catch(() => undefined);
  if (isTooEarly(revert)) return revert;
  const simulated = await chain.simulate(submission.data, await state.seconds());
  return 'reverted' in simulated ? (revert ?? simulated) : undefined;
}
