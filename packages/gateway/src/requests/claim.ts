import type { BatchTransition, Claim, RequestStore, StoredRequest } from '../ports/requestStore.ts';
import { RequestAlreadyClaimedError, RequestNotFoundError, TooManyOpenClaimsError } from './errors.ts';
import { MAX_PARAMS_BYTES } from './list.ts';

/** A batch answers with no more than a page of a list does, and for the same reasons. */
export const BOUNDS = { maxParamsBytes: MAX_PARAMS_BYTES } as const;

export interface ClaimPorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
  /** How long a claim holds, in seconds; 0: for ever. */
  readonly claimLeaseSeconds: number;
  /** Most requests that one relayer may hold; 0: any number. */
  readonly maxOpenClaims: number;
  readonly claimed: (result: 'won' | 'lost') => void;
}

/** The bound on what one relayer holds, as stores take it. */
const boundOf = ({ maxOpenClaims }: ClaimPorts) => (maxOpenClaims > 0 ? { maxOpenClaims } : {});

/**
 * Writes a claim as the store takes it. An owner whose lease lapsed stands back for one more lease, so that others come in.
 *
 * @see docs/specification.md LEASE-5
 */
function createClaim(ports: ClaimPorts, requestId: string, relayer: string): Claim {
  const now = ports.now();
  const leaseMs = ports.claimLeaseSeconds * 1000;
  const lease = leaseMs > 0 && { leaseExpiredAt: now - leaseMs, ownLeaseExpiredAt: now - 2 * leaseMs };
  return { requestId, relayer, claimId: ports.newId(), now, ...lease, ...boundOf(ports) };
}

/**
 * Claims a request for a relayer; of any number of rivals one wins.
 *
 * @returns the record, now `processing`
 * @throws RequestNotFoundError, RequestAlreadyClaimedError, TooManyOpenClaimsError
 * @see docs/specification.md CLAIM-1, CLAIM-5, LEASE-2
 */
export async function claimRequest(ports: ClaimPorts, requestId: string, relayer: string): Promise<StoredRequest> {
  const transition = await ports.requests.claim(createClaim(ports, requestId, relayer));
  if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);
  if (transition.outcome === 'conflict') {
    ports.claimed('lost');
    throw new RequestAlreadyClaimedError(transition.record);
  }
  if (transition.outcome === 'full') throw new TooManyOpenClaimsError(ports.maxOpenClaims);
  ports.claimed('won');
  return transition.record;
}

/** What came of a batch: the records that it moved, and the requests that it could not. */
export interface RequestBatch {
  readonly items: readonly StoredRequest[];
  /** `status` is absent where there is no such request. */
  readonly conflicts: readonly { readonly requestId: string; readonly status?: StoredRequest['status'] }[];
}

/** Sorts what became of each request of a batch. @param requestIds - one a transition, in their order */
export function createBatch(requestIds: readonly string[], transitions: readonly BatchTransition[]): RequestBatch {
  const items: StoredRequest[] = [];
  const conflicts: { requestId: string; status?: StoredRequest['status'] }[] = [];
  for (const [index, transition] of transitions.entries()) {
    const requestId = requestIds[index] ?? '';
    if (transition.outcome === 'missing') conflicts.push({ requestId });
    else if (transition.outcome === 'conflict') conflicts.push({ requestId, status: transition.status });
    else if (transition.record !== undefined) items.push(transition.record);
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
  const batch = createBatch(requestIds, await ports.requests.claimAll(claims, BOUNDS));
  for (const _ of batch.items) ports.claimed('won');
  for (const _ of batch.conflicts) ports.claimed('lost');
  return batch;
}

/**
 * Claims the oldest pending requests of a chain.
 *
 * @param wanted.limit - most of them, 1 to 100
 * @see docs/specification.md BATCH-2
 */
export async function claimOldestRequests(
  ports: ClaimPorts,
  wanted: { readonly chainName: string; readonly limit: number },
  relayer: string,
): Promise<RequestBatch> {
  const items = await ports.requests.claimOldest({
    ...wanted,
    ...BOUNDS,
    ...boundOf(ports),
    relayer,
    claimId: ports.newId(),
    now: ports.now(),
  });
  for (const _ of items) ports.claimed('won');
  return { items, conflicts: [] };
}
