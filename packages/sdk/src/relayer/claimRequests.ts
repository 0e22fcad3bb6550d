import type { RequestRecord } from '@prism-gateway/protocol';
import type { CallOptions } from '../requests/getRequest.ts';
import { isClaimed, type RelayerContext } from './moveRequest.ts';
import { type BatchOutcome, readBatch } from './readBatch.ts';

/** Which requests are claimed: 1 to 100 by their ids, or the oldest pending ones of a chain, at most `limit` (1 to 100). */
export type ClaimOrder =
  | { readonly requestIds: readonly string[] }
  | { readonly chainName: string; readonly limit: number };

/**
 * Claims many requests in one call: one signature, and each claim as exclusive as a single one.
 *
 * Claims by ids are repeated where an answer was lost, since one that is held already is claimed again. The oldest of a chain are
 * not: with `mayHaveHappened` some may be held that nobody has been told of; they are pending again when their lease has lapsed.
 *
 * @throws GatewayError VALIDATION_FAILED, UNAUTHORISED, NOT_FOUND from a gateway that has the specification alone, and what any call
 * may throw
 */
export async function claimRequests(
  context: RelayerContext,
  { signal, ...body }: ClaimOrder & CallOptions,
): Promise<BatchOutcome> {
  const { transport, makeHeaders } = context;
  const path = '/requests/claims';
  const wanted = 'requestIds' in body ? new Set(body.requestIds.map((id) => id.toLowerCase())) : undefined;
  const isDone = (record: RequestRecord) =>
    isClaimed(context, record) &&
    ('chainName' in body ? record.chainName === body.chainName : wanted?.has(record.requestId.toLowerCase()) === true);
  const repeat = wanted ? 'freely' : 'ifUnsent';
  const answer = await transport.call({ method: 'POST', path, body, makeHeaders, repeat, signal });
  return readBatch({ what: `POST ${path}`, isDone }, answer);
}
