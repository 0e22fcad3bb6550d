import type { RequestStore, StoredRequest } from '../ports/requestStore.ts';
import { RequestAlreadyClaimedError, RequestNotFoundError } from './errors.ts';

export interface ClaimPorts {
  readonly requests: RequestStore;
  readonly newId: () => string;
  readonly now: () => number;
  /** How long a claim holds, in seconds; 0: for ever. */
  readonly claimLeaseSeconds: number;
  readonly claimed: (result: 'won' | 'lost') => void;
}

/**
 * Claims a request for a relayer; of any number of rivals one wins.
 *
 * @returns the record, now `processing`
 * @throws RequestNotFoundError, RequestAlreadyClaimedError
 * @see docs/specification.md CLAIM-1, LEASE-2
 */
export async function claimRequest(ports: ClaimPorts, requestId: string, relayer: string): Promise<StoredRequest> {
  const now = ports.now();
  const lease = ports.claimLeaseSeconds;
  const transition = await ports.requests.claim({
    requestId,
    relayer,
    claimId: ports.newId(),
    now,
    ...(lease > 0 && { leaseExpiredAt: now - lease * 1000 }),
  });
  if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);
  if (transition.outcome === 'conflict') {
    ports.claimed('lost');
    throw new RequestAlreadyClaimedError(transition.record);
  }
  ports.claimed('won');
  return transition.record;
}
