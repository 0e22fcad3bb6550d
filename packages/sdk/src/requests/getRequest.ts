import type { RequestHead, RequestPage, RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/gatewayError.ts';
import type { GatewayCall, Transport } from '../http/createTransport.ts';

/** Options of any single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** One look at a request. */
export interface RequestLook extends CallOptions, Pick<GatewayCall, 'onAskAgain'> {
  /** UUID. */
  readonly requestId: string;
  /** The status that is known: a gateway that can waits until it is another one. */
  readonly seen?: RequestStatus | undefined;
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
  { requestId, signal, onAskAgain, ...query }: RequestLook,
): Promise<RequestRecord> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const answer = await transport.call({ method: 'GET', path, query, repeat: 'freely', signal, onAskAgain });
  return readRecord(`GET ${path}`, answer, requestId);
}

const STATUSES: readonly unknown[] = ['pending', 'processing', 'success', 'failed'];

/** Whether the fields that the SDK goes by are what the contract says. */
export function isHead(record: Partial<RequestHead>): record is RequestHead {
  const { requestId, chainName, action, status, createdAt, claimedBy = '', txHash = '', errorMessage = '' } = record;
  const texts = [requestId, chainName, action, createdAt, claimedBy, txHash, errorMessage];
  return (
    texts.every((text) => typeof text === 'string') &&
    STATUSES.includes(status) &&
    (status !== 'success' || txHash !== '')
  );
}

/**
 * Takes an answer for a request record. No more of it is checked than what the client goes by: the gateway's schemas would weigh more
 * than the rest of the client.
 *
 * @param requestId - whose record it must be; default anyone's
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readRecord(what: string, answer: unknown, requestId?: string): RequestRecord {
  // Read with care until it has shown what it is.
  const record = Object(answer) as Partial<RequestRecord>;
  const { params } = record;
  if (!isHead(record) || Object(params) !== params) throw unexpectedAnswer(what, 'request');
  if (requestId && record.requestId.toLowerCase() !== requestId.toLowerCase())
    throw unexpectedAnswer(what, `request ${requestId}`);
  // It has params, too.
  return record as RequestRecord;
}

/**
 * Takes an answer for a page of requests.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readPage(what: string, answer: unknown): RequestPage {
  // As above.
  const { items, lastKey = null } = Object(answer) as Partial<RequestPage>;
  if (!Array.isArray(items) || typeof (lastKey ?? '') !== 'string') throw unexpectedAnswer(what, 'page of requests');
  return { items: items.map((item) => readRecord(what, item)), count: items.length, lastKey };
}
