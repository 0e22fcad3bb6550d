import type { RequestRecord, UpdateRequestBody } from '@prism-gateway/protocol';
import type { CallOptions } from '../requests/getRequest.ts';
import { isOwnClaim, moveRequest, type RelayerContext } from './moveRequest.ts';

/** How a request ended. */
export type Outcome = Exclude<UpdateRequestBody, { readonly status: 'processing' }>;

/** Tells whether a record shows an outcome. */
export function saysSame(record: RequestRecord, outcome: Outcome): boolean {
  if (outcome.status === 'failed') return record.status === 'failed' && record.errorMessage === outcome.errorMessage;
  return record.status === 'success' && record.txHash?.toLowerCase() === outcome.txHash.toLowerCase();
}

/**
 * Reports how a claimed request ended. To report the same again, after a lost answer or a restart, is a success.
 *
 * @returns the record, `success` or `failed`
 * @throws GatewayError CONFLICT when the claim is another's, or another outcome was reported; NOT_FOUND, UNAUTHORISED
 * @see docs/specification.md REPORT-1, REPORT-2
 */
export function reportRequest(
  context: RelayerContext,
  { requestId, outcome, signal }: { readonly requestId: string; readonly outcome: Outcome } & CallOptions,
): Promise<RequestRecord> {
  const isDone = (record: RequestRecord) => isOwnClaim(context, record) && saysSame(record, outcome);
  return moveRequest(context, { move: { requestId, body: outcome, signal }, isDone, readBack: 'always' });
}
