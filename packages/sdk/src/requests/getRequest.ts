import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import type { Transport } from '../http/createTransport.ts';
import { readRecord } from './readRecord.ts';

/** What any single call may be given. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** One look at a request. */
export interface RequestLook extends CallOptions {
  /** UUID. */
  readonly requestId: string;
  /** The status that is known: a gateway that can waits until it is another one. */
  readonly status?: RequestStatus | undefined;
  /** For how long it may wait for that, in seconds; one that knows the specification alone answers at once. */
  readonly wait?: number | undefined;
}

/**
 * Reads a request.
 *
 * @throws GatewayError NOT_FOUND, VALIDATION_FAILED, and what any call may throw
 * @see docs/specification.md READ-1
 */
export async function getRequest(
  transport: Transport,
  { requestId, signal, ...query }: RequestLook,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const answer = await transport.call({ method: 'GET', path, query, repeat: 'freely', signal });
  return readRecord(`GET ${path}`, answer, requestId);
}
