import { isGatewayError } from '@prism-gateway/sdk';
import type { Outcome } from '../life/openRequest.ts';
import type { Relay } from '../relay.ts';
import { createBackOff } from './backOff.ts';
import { runLimited } from './runLimited.ts';

/** Most reports under way at once. */
const MAX_REPORTS = 16;
/** Pauses between attempts, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** A request whose outcome is known. */
export interface Ended {
  readonly requestId: string;
  readonly outcome: Outcome;
}

async function askGateway({ gateway, signal }: Relay, { requestId, outcome }: Ended): Promise<void> {
  if (outcome.status === 'success') await gateway.reportSuccess(requestId, outcome.txHash, { signal });
  else await gateway.reportFailure(requestId, outcome.errorMessage, { signal });
}

function close(relay: Relay, ended: Ended, to: 'reported' | 'lost'): void {
  const { journal, desk, metrics, now, settings } = relay;
  const request = journal.get(ended.requestId);
  if (request === undefined) return;
  journal.move([{ requestId: ended.requestId, to, nowMs: now() }]);
  desk.drop(ended.requestId);
  const chain = settings.chainName;
  metrics.inFlight.set({ chain }, desk.size);
  if (to === 'reported') {
    metrics.reports.inc({ chain, status: ended.outcome.status });
    metrics.duration.observe({ chain }, (now() - request.claimedAtMs) / 1000);
  }
  // The signer's next request may be in order now.
  for (const { signer } of request.wishes) relay.candidates.touch(signer);
  relay.wake();
}

async function reportOne(relay: Relay, ended: Ended): Promise<void> {
  const { requestId, outcome } = ended;
  const { logger, metrics, settings, random, signal } = relay;
  const backOff = createBackOff({ firstMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS, random, signal });
  while (!signal.aborted) {
    try {
      await askGateway(relay, ended);
      logger.info({ requestId, ...outcome }, 'reported');
      return close(relay, ended, 'reported');
    } catch (error) {
      if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) {
        logger.warn({ requestId, ...outcome, code: error.code }, 'not reported: the claim is no longer this relayer’s');
        return close(relay, ended, 'lost');
      }
      if (isGatewayError(error, 'VALIDATION_FAILED')) throw error;
      if (signal.aborted) return;
      metrics.faults.inc({ chain: settings.chainName, where: 'report' });
      logger.warn({ requestId, code: isGatewayError(error) ? error.code : 'UNKNOWN' }, 'report failed; trying again');
    }
    if (!(await backOff.wait())) return;
  }
}

/**
 * Notes outcomes in the journal and reports them, for as long as it takes.
 *
 * @param relay - the relayer on this chain
 * @param ended - requests that are claimed or submitted, and their outcomes
 */
export async function finishRequests(relay: Relay, ended: readonly Ended[]): Promise<void> {
  const nowMs = relay.now();
  relay.journal.move(ended.map(({ requestId, outcome }) => ({ requestId, to: 'mined', outcome, nowMs })));
  await reportOutcomes(relay, ended);
}

/** Reports outcomes that the journal holds, for as long as it takes. */
export async function reportOutcomes(relay: Relay, ended: readonly Ended[]): Promise<void> {
  await runLimited({ list: ended, limit: MAX_REPORTS, act: (one) => reportOne(relay, one) });
}
