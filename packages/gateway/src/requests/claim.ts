import { type ConflictReason, REQUEST_MOVES } from '@prism-gateway/protocol';
import type { BatchTransition, Claim, RequestHead, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import {
  ClaimedTooLongError,
  RequestAlreadyClaimedError,
  RequestNotFoundError,
  TooManyOpenClaimsError,
} from './errors.ts';

export interface ClaimPorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
  /** How long a claim holds, in seconds; 0: for ever. */
  readonly claimLeaseSeconds: number;
  /** How long a relayer may hold a request by renewing, or giving it back and claiming it again, in seconds; 0: for ever. */
  readonly maxClaimSeconds: number;
  /** Most requests that one relayer may hold; 0: any number. */
  readonly maxOpenClaims: number;
  readonly claimed: (result: 'won' | 'lost') => void;
}

/** The bounds on what one relayer holds, and for how long, as stores take them. */
function boundsOf({ maxOpenClaims, maxClaimSeconds, claimLeaseSeconds }: ClaimPorts, now: number) {
  const isBounded = maxClaimSeconds > 0 && claimLeaseSeconds > 0;
  return {
    ...(maxOpenClaims > 0 && { maxOpenClaims }),
    ...(claimLeaseSeconds > 0 && { leaseExpiredAt: now - claimLeaseSeconds * 1000 }),
    ...(isBounded && { firstClaimedAfter: now - maxClaimSeconds * 1000 }),
  };
}

/**
 * Writes a claim as the store takes it. An owner whose lease lapsed stands back for one more lease, so that others come in.
 *
 * @see docs/specification.md LEASE-5, LEASE-6
 */
function createClaim(ports: ClaimPorts, requestId: string, relayer: string): Claim {
  const now = ports.now();
  const leaseMs = ports.claimLeaseSeconds * 1000;
  const own = leaseMs > 0 && { ownLeaseExpiredAt: now - 2 * leaseMs };
  return { requestId, relayer, claimId: ports.newId(), now, ...own, ...boundsOf(ports, now) };
}

/**
 * Claims a request for a relayer; of any number of rivals one wins.
 *
 * @returns the record, now `processing`
 * @throws RequestNotFoundError, RequestAlreadyClaimedError, ClaimedTooLongError, TooManyOpenClaimsError
 * @see docs/specification.md CLAIM-1, CLAIM-5, LEASE-2
 */
export async function claimRequest(ports: ClaimPorts, requestId: string, relayer: string): Promise<StoredRequest> {
  const transition = await ports.requests.claim(createClaim(ports, requestId, relayer));
  if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);
  if (transition.outcome === 'conflict') {
    ports.claimed('lost');
    throw transition.record.status === REQUEST_MOVES.claim.from
      ? new ClaimedTooLongError(ports.maxClaimSeconds)
      : new RequestAlreadyClaimedError(transition.record);
  }
  if (transition.outcome === 'full') throw new TooManyOpenClaimsError(ports.maxOpenClaims);
  ports.claimed('won');
  return transition.record;
}

/** The result of a batch: the records that it moved, and the requests that it could not. */
export interface RequestBatch {
  readonly items: readonly RequestHead[];
  /** `status` is absent if there is no such request. */
  readonly conflicts: readonly {
    readonly requestId: string;
    readonly status?: StoredRequest['status'];
    readonly reason: ConflictReason;
  }[];
}

/** Why each status is in the way of a claim, or of a report. */
const REASONS = {
  claim: { pending: 'held-too-long', processing: 'claimed', success: 'ended', failed: 'ended' },
  report: { pending: 'unclaimed', processing: 'claimed', success: 'ended', failed: 'ended' },
} as const satisfies Record<string, Record<StoredRequest['status'], ConflictReason>>;

/** Sorts what became of each request of a batch. @param requestIds - one a transition, in their order */
export function createBatch(
  act: keyof typeof REASONS,
  requestIds: readonly string[],
  transitions: readonly BatchTransition[],
): RequestBatch {
  const items: RequestHead[] = [];
  const conflicts: RequestBatch['conflicts'][number][] = [];
  for (const [index, transition] of transitions.entries()) {
    const requestId = requestIds[index] ?? '';
    if (transition.outcome === 'moved') items.push(transition.record);
    else if (transition.outcome === 'missing') conflicts.push({ requestId, reason: 'unknown' });
    else {
      const { outcome, status } = transition;
      conflicts.push({ requestId, status, reason: outcome === 'full' ? 'at-your-limit' : REASONS[act][status] });
    }
  }
  return { items, conflicts };
}

/**
 * Claims many requests for a relayer, each as atomic as one claim; a request that it holds already gets its lease renewed.
 *
 * @param requestIds - in lower case, each once
 * @see docs/specification.md BATCH-1
 */
export async function claimRequests(
  ports: ClaimPorts,
  requestIds: readonly string[],
  relayer: string,
): Promise<RequestBatch> {
  const claims = requestIds.map((requestId) => createClaim(ports, requestId, relayer));
  const batch = createBatch('claim', requestIds, await ports.requests.claimAll(claims));
  for (const _ of batch.items) ports.claimed('won');
  for (const { reason } of batch.conflicts) if (reason !== 'at-your-limit') ports.claimed('lost');
  return batch;
}
