import type { RequestPage, RequestRecord } from '@prism-gateway/protocol';
import { GatewayError } from '../errors/gatewayError.ts';

/** Names of the states; the gateway's schema is not brought along for the sake of four words. */
const statuses: ReadonlySet<unknown> = new Set(['pending', 'processing', 'success', 'failed']);

function unexpected(what: string): GatewayError {
  const message = `${what} was answered with something else than was asked for. Is this the URL of a gateway?`;
  return new GatewayError({ code: 'UNEXPECTED_ANSWER', message, mayHaveHappened: true });
}

function isRecord(value: unknown): value is RequestRecord {
  if (typeof value !== 'object' || value === null || !('requestId' in value) || !('status' in value)) return false;
  return typeof value.requestId === 'string' && statuses.has(value.status);
}

/**
 * Takes an answer for a request record; of what a gateway says no more is checked than what the SDK acts upon.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readRecord(what: string, answer: unknown): RequestRecord {
  if (!isRecord(answer)) throw unexpected(what);
  return answer;
}

/**
 * Takes an answer for a page of requests.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readPage(what: string, answer: unknown): RequestPage {
  if (typeof answer !== 'object' || answer === null || !('items' in answer) || !('lastKey' in answer)) {
    throw unexpected(what);
  }
  const { items, lastKey } = answer;
  if (!Array.isArray(items) || !items.every(isRecord)) throw unexpected(what);
  if (lastKey !== null && typeof lastKey !== 'string') throw unexpected(what);
  return { items, count: items.length, lastKey };
}
