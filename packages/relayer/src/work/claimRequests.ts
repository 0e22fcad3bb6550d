import { GatewayError, isGatewayError } from '@prism-gateway/sdk';
import type { Candidate } from '../queue/candidates.ts';
import type { Relay } from '../relay.ts';

/** A candidate whose verdict says that it is to be claimed. */
export type Claimable = Candidate & {
  readonly verdict: Extract<Candidate['verdict'], { readonly kind: 'ready' | 'settle' }>;
};

type ClaimResult = 'won' | 'conflict' | 'unknown';

async function claimOne(relay: Relay, requestId: string): Promise<ClaimResult> {
  try {
    await relay.gateway.claim(requestId, { signal: relay.signal });
    return 'won';
  } catch (error) {
    if (isGatewayError(error, 'CONFLICT', 'NOT_FOUND')) return 'conflict';
    if (error instanceof GatewayError) {
      relay.metrics.faults.inc({ chain: relay.settings.chainName, where: 'claim' });
      relay.logger.warn({ requestId, code: error.code }, 'claim failed');
      // Surely not claimed; otherwise the gateway has to be asked.
      return error.mayHaveHappened || error.code === 'ABORTED' ? 'unknown' : 'conflict';
    }
    throw error;
  }
}

/** Claims some requests at once. The journal has the intention on the disk before the gateway is asked. */
async function claimBurst(relay: Relay, burst: readonly Claimable[]): Promise<ReadonlyMap<string, ClaimResult>> {
  const { journal, desk, candidates, metrics, settings, now } = relay;
  const claimedAtMs = now();
  const requests = burst.map(({ record, verdict }) => ({
    requestId: record.requestId,
    record,
    wishes: verdict.wishes,
    gas: verdict.kind === 'ready' ? verdict.gas : undefined,
    claimedAtMs,
  }));
  journal.begin(requests);
  for (const request of requests) desk.take(request);
  const results = new Map(
    await Promise.all(
      burst.map(async ({ record: { requestId } }) => [requestId, await claimOne(relay, requestId)] as const),
    ),
  );
  const known = [...results].filter(([, result]) => result !== 'unknown');
  const nowMs = now();
  journal.move(known.map(([requestId, result]) => ({ requestId, to: result === 'won' ? 'claimed' : 'lost', nowMs })));
  for (const [requestId, result] of results) {
    metrics.claims.inc({ chain: settings.chainName, result });
    candidates.forget(requestId);
    if (result === 'conflict') desk.drop(requestId);
  }
  metrics.inFlight.set({ chain: settings.chainName }, desk.size);
  return results;
}

/** What came of claiming. */
export interface Claimed {
  readonly won: readonly Claimable[];
  /** Requests whose claim has had no answer: the gateway has to be asked. */
  readonly unknown: readonly string[];
}

/**
 * Claims requests in bursts, and stops at the first burst in which a rival was faster: then the page is old.
 *
 * @param relay - the relayer on this chain
 * @param picked - in random order
 */
export async function claimRequests(relay: Relay, picked: readonly Claimable[]): Promise<Claimed> {
  const { pace, metrics, settings, signal } = relay;
  const won: Claimable[] = [];
  const unknown: string[] = [];
  for (let next = 0; next < picked.length && !signal.aborted; ) {
    const burst = picked.slice(next, next + pace.burst);
    next += burst.length;
    const results = await claimBurst(relay, burst);
    won.push(...burst.filter(({ record }) => results.get(record.requestId) === 'won'));
    unknown.push(...[...results].filter(([, result]) => result === 'unknown').map(([requestId]) => requestId));
    const conflicts = [...results.values()].filter((result) => result === 'conflict').length;
    pace.learn({ won: burst.length - conflicts, conflicts });
    metrics.claimShare.set({ chain: settings.chainName }, pace.share);
    if (conflicts > 0) break;
  }
  return { won, unknown };
}
