import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/unexpectedAnswer.ts';

/**
 * Takes an answer for a request record. No more of it is checked than that it is one: the gateway's schemas would weigh more than
 * the rest of the client.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readRecord(what: string, answer: unknown): RequestRecord {
  // Read with care until it has shown what it is.
  const record = answer as RequestRecord | null;
  if (typeof record?.requestId === 'string' && typeof record.status === 'string') return record;
  throw unexpectedAnswer(what, 'request');
}

/**
 * Takes an answer for a page of requests.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readPage(what: string, answer: unknown): RequestPage {
  // As above.
  const { items, lastKey } = Object(answer) as Partial<RequestPage>;
  const read = (Array.isArray(items) ? items : [null]).map((item) => readRecord(what, item));
  return { items: read, count: read.length, lastKey: lastKey ?? null };
}
