import type { RequestRecord, UpdateRequestBody } from '@prism-gateway/protocol';
import type { OutgoingCall, Transport } from '../http/transport.ts';
import type { CallOptions } from '../requests/getRequest.ts';
import { readRecord } from '../requests/readRecord.ts';

/** What a relayer's calls are made with. */
export interface RelayerContext {
  readonly transport: Transport;
  /** The relayer's own address, in any letter case. */
  readonly address: string;
  /** Signs relayer auth for one call. */
  readonly makeHeaders: (call: OutgoingCall) => Promise<Record<string, string>>;
}

/** One move of a request's state. */
export interface Move extends CallOptions {
  readonly requestId: string;
  readonly body: UpdateRequestBody;
}

/**
 * Asks for one move of a request's state, once.
 *
 * @throws GatewayError; with `mayHaveHappened` where the answer was lost
 * @see SPEC.md section 4, "PATCH /requests/{requestId}"
 */
export async function updateRequest(
  { transport, makeHeaders }: RelayerContext,
  { requestId, body, signal }: Move,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const answer = await transport.call({ method: 'PATCH', path, body, makeHeaders, repeat: 'ifUnsent', signal });
  return readRecord(`PATCH ${path}`, answer);
}

/** Tells whether a record is under this relayer's claim. */
export function isOwnClaim({ address }: RelayerContext, record: RequestRecord): boolean {
  return record.claimedBy?.toLowerCase() === address.toLowerCase();
}
