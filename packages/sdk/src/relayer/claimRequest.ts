import type { RequestRecord } from '@prism-gateway/protocol';
import type { CallOptions } from '../requests/getRequest.ts';
import { isClaimed, moveRequest, type RelayerContext } from './moveRequest.ts';

/**
 * Claims a request: of any number of rivals one wins. Where the answer was lost, the request is read back: claimed by this
 * relayer is won.
 *
 * @returns the record, `processing`
 * @throws GatewayError CONFLICT when another was first, or it is claimed already; NOT_FOUND, UNAUTHORISED
 * @see docs/specification.md CLAIM-1
 */
export function claimRequest(
  context: RelayerContext,
  { requestId, signal }: { readonly requestId: string } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => isClaimed(context, record);
  const move = { requestId, body: { status: 'processing' }, signal } as const;
  return moveRequest(context, { move, isDone, readBack: 'afterLostAnswer' });
}
