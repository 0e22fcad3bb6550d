import type { RequestRecord } from '@prism-gateway/protocol';
import type { CallOptions } from '../requests/getRequest.ts';
import { isOwnClaim, moveRequest, type RelayerContext } from './moveRequest.ts';

/**
 * Gives a claimed request back, so that another relayer may take it at once. Where the answer was lost, the request is read back:
 * no longer under this relayer's claim is given back.
 *
 * @returns the record, `pending`; or as it is by now, where the answer was lost
 * @throws GatewayError CONFLICT when this relayer does not hold it; NOT_FOUND, UNAUTHORISED
 */
export function releaseRequest(
  context: RelayerContext,
  { requestId, signal }: { readonly requestId: string } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => !isOwnClaim(context, record);
  return moveRequest(context, { move: { requestId, signal }, isDone, readBack: 'afterLostAnswer' });
}
