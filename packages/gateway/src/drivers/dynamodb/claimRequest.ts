import type { Claim, Transition } from '../../ports/requestStore.ts';
import { number, text } from './attributes.ts';
import { moveRequest, transitionOf } from './moveRequest.ts';
import type { ParamsReader } from './paramsReader.ts';
import type { RequestTable } from './requestTable.ts';

const isPending = '#status = :pending';
// A repetition of the call that holds the claim is no take-over.
const isLapsed = '#status = :status AND #claimedAt <= :leaseExpiredAt AND #callMark <> :callMark';

/**
 * Claims a request: `pending`, or `processing` with a lapsed lease, becomes `processing`.
 *
 * @throws DependencyUnavailableError
 */
export async function claimRequest(table: RequestTable, params: ParamsReader, claim: Claim): Promise<Transition> {
  const { relayer, claimId, now, leaseExpiredAt } = claim;
  const answer = await moveRequest(table, {
    requestId: claim.requestId.toLowerCase(),
    to: 'processing',
    callId: claimId,
    set: { claimedBy: text(relayer), claimedAt: number(now), updatedAt: number(now) },
    condition: leaseExpiredAt === undefined ? isPending : `${isPending} OR (${isLapsed})`,
    values: {
      ':pending': text('pending'),
      ...(leaseExpiredAt !== undefined && { ':leaseExpiredAt': number(leaseExpiredAt) }),
    },
  });
  return await transitionOf(table, params, answer, claimId);
}
