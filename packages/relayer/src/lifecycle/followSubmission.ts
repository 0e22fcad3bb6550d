import { type Sender, SenderError } from '@prism-gateway/sender';
import { countCancel } from './countCosts.ts';
import type { OpenRequest, Submission } from './openRequest.ts';
import { returnToClaimed, type SettlePorts, settleSubmission } from './settleSubmission.ts';

export interface FollowPorts extends SettlePorts {
  readonly sender: Pick<Sender, 'send' | 'get'>;
  /** Blocks that settle a transaction, the including one counted. */
  readonly confirmations: number;
}

/** What the sender knows after a restart is followed; of what it does not, nothing was sent, and time has passed since its check. */
function isForgotten({ sender, inFlight }: FollowPorts, { intentId }: Submission, requests: readonly OpenRequest[]) {
  return sender.get(intentId) === undefined && requests.some(({ requestId }) => !inFlight.standing(requestId));
}

/**
 * Hands a journalled call to the sender, waits for its one transaction, and has settled what that says of each request.
 *
 * @param requests - `submitted` in one call; they become `mined`, or `claimed` again where nothing of them is on the chain
 * @returns those that have a next move: `reportOutcomes` takes on what is `mined`
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
    const told = await sender.send(intentId, { to, data, gasLimit }, options);
    return await settleSubmission(ports, { requests, told });
  } catch (error) {
    if (!(error instanceof SenderError)) throw error;
    // Not known: the next start goes on from the journal, or this one, once the sender's can be written.
    if (error.code === 'CLOSED') return [];
    if (error.code === 'JOURNAL_FAILED') throw error;
    notes.fault('send');
    const isOwnFault = error.code === 'TRANSACTION_REFUSED' && requests.length === 1;
    countCancel(ports, { requests, spentWei: error.spentWei, blame: isOwnFault ? 'signers' : 'nobody' });
    notes.log.warn({ intentId, code: error.code, requests: requests.length }, 'not sent; checking again');
    return returnToClaimed(ports, requests);
  }
}
