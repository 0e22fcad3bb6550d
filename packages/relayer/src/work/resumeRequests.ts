import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import type { OpenRequest } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { advanceRequest } from './advanceRequest.ts';
import { createBackOff } from './backOff.ts';
import { reportOutcomes } from './reportOutcome.ts';
import { followSubmission } from './submitRequests.ts';

/** Pauses between attempts to ask gateway or chain, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Whether the gateway says that a request is claimed by this relayer, and not reported. */
export function isOwnClaim(relay: Relay, record: RequestRecord): boolean {
  return record.status === 'processing' && record.claimedBy?.toLowerCase() === relay.chain.relayer;
}

/** Reads a request until the gateway answers. @returns undefined where there is none, or the signal ended the asking */
export async function readRecord(relay: Relay, requestId: string): Promise<RequestRecord | undefined> {
  const { gateway, random, signal } = relay;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  for (;;) {
    try {
      return await gateway.get(requestId, { signal });
    } catch (error) {
      if (isGatewayError(error, 'NOT_FOUND')) return undefined;
      if (!isGatewayError(error)) throw error;
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/**
 * Takes on a request whose claim had no answer, or that was claimed before a restart: it is worked on if the gateway says that
 * it is this relayer's, and let go if not.
 *
 * @param relay - the relayer on this chain
 * @param requestId - of a request that the journal has as `claiming` or `claimed`
 */
export async function resumeClaim(relay: Relay, requestId: string): Promise<void> {
  const { journal, desk, now, signal, logger } = relay;
  const record = await readRecord(relay, requestId);
  if (signal.aborted) return;
  if (record === undefined || !isOwnClaim(relay, record)) {
    journal.move([{ requestId, to: 'lost', nowMs: now() }]);
    desk.drop(requestId);
    return;
  }
  if (journal.get(requestId)?.state === 'claiming') journal.move([{ requestId, to: 'claimed', nowMs: now() }]);
  logger.info({ requestId }, 'claim resumed');
  await advanceRequest(relay, requestId);
}

async function resumeRequest(relay: Relay, request: OpenRequest): Promise<void> {
  const { requestId, state, outcome } = request;
  if (state === 'claiming' || state === 'claimed') return await resumeClaim(relay, requestId);
  if (state === 'mined' && outcome !== undefined) await reportOutcomes(relay, [{ requestId, outcome }]);
}

/** What the sender knows is followed; of what it does not, nothing was sent. */
async function resumeSubmission(relay: Relay, intentId: string, requestIds: readonly string[]): Promise<void> {
  const submission = relay.journal.submission(intentId);
  if (submission !== undefined && relay.sender.get(intentId) !== undefined) {
    const returned = await followSubmission(relay, submission);
    await Promise.all(returned.map((requestId) => advanceRequest(relay, requestId)));
    return;
  }
  const nowMs = relay.now();
  relay.journal.move(requestIds.map((requestId) => ({ requestId, to: 'claimed', nowMs })));
  await Promise.all(requestIds.map((requestId) => resumeClaim(relay, requestId)));
}

/**
 * Goes on with everything that the journal holds open: after a start, before anything new is claimed.
 *
 * @param relay - the relayer on this chain
 */
export function resumeJournal(relay: Relay): void {
  const { journal, desk, logger } = relay;
  const open = journal.open();
  if (open.length > 0) logger.info({ open: open.length }, 'going on with open requests');
  for (const request of open) desk.take(request);
  const intents = new Map<string, string[]>();
  for (const request of open) {
    if (request.state === 'submitted' && request.intentId !== undefined) {
      intents.set(request.intentId, [...(intents.get(request.intentId) ?? []), request.requestId]);
    } else desk.run(resumeRequest(relay, request));
  }
  for (const [intentId, requestIds] of intents) desk.run(resumeSubmission(relay, intentId, requestIds));
}
