import { createBackOff } from '@prism-gateway/node';
import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import { leaveUnclaimed } from './candidates.ts';
import type { RelayerContext } from './context.ts';
import type { OpenRequest } from './states.ts';

/** Pauses between attempts to ask the gateway, in milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 10_000 };

/** Whether the gateway says that a request is claimed by this relayer, and not reported. */
export function isOwnClaim({ chain }: RelayerContext, record: RequestRecord): boolean {
  return record.status === 'processing' && record.claimedBy?.toLowerCase() === chain.relayer;
}

/** Says when the lease of a claim is over, in Unix milliseconds; Infinity: never. The one place that does. */
export function findLeaseEnd({ gateway, policy }: RelayerContext, claimedAtMs: number): number {
  return policy.leaseMs === 0 || !gateway.hasLeases() ? Number.POSITIVE_INFINITY : claimedAtMs + policy.leaseMs;
}

/** Reads a request until the gateway answers. @returns undefined if there is none, or the signal ended the asking */
export async function readRecord(context: RelayerContext, requestId: string): Promise<RequestRecord | undefined> {
  const { gateway, events, random, signal } = context;
  const backOff = createBackOff({ ...PAUSES, random, signal });
  for (;;) {
    try {
      return await gateway.read(requestId);
    } catch (error) {
      if (!isGatewayError(error)) throw error;
      if (!signal.aborted) events.emit({ type: 'fault', where: 'gateway' });
    }
    if (!(await backOff.wait())) return undefined;
  }
}

/** `claiming` becomes `claimed` or `lost`; `claimed` stays so, or becomes `lost`. */
async function confirmOne(context: RelayerContext, { requestId, state }: OpenRequest): Promise<readonly string[]> {
  const { journal, inFlight, events, now, signal } = context;
  const record = await readRecord(context, requestId);
  if (signal.aborted) return [];
  const by = 'confirmClaim';
  if (record === undefined || !isOwnClaim(context, record)) {
    journal.move([{ requestId, to: 'lost', by, nowMs: now() }]);
    if (record?.status === 'pending') journal.recordVerdicts([leaveUnclaimed(record, now())]);
    inFlight.drop(requestId);
    return [];
  }
  if (state === 'claiming') journal.move([{ requestId, to: 'claimed', by, nowMs: now() }]);
  // A reason from before a restart holds since then.
  inFlight.note(requestId, { kind: 'blocked', sinceMs: journal.wait(requestId)?.sinceMs ?? now() });
  events.emit({ type: 'claim-resumed', requestId });
  return [requestId];
}

/**
 * Asks the gateway whose requests are whose claim had no answer, or was given before a restart: they are let go if not this relayer's.
 *
 * @param requests - `claiming` or `claimed`
 * @returns those that are this relayer's
 */
export async function confirmClaim(
  context: RelayerContext,
  requests: readonly OpenRequest[],
): Promise<readonly string[]> {
  return (await Promise.all(requests.map((request) => confirmOne(context, request)))).flat();
}
