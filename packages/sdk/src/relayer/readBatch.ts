import type { RequestRecord, RequestStatus } from '@prism-gateway/protocol';
import { unexpectedAnswer } from '../errors/unexpectedAnswer.ts';
import { readRecord } from '../requests/readRecord.ts';

/** What became of many requests that were to be moved in one call. */
export interface BatchOutcome {
  /** Those that were moved, as they are now. */
  readonly items: readonly RequestRecord[];
  /** Those that were not, and the status that they have. */
  readonly conflicts: readonly { readonly requestId: string; readonly status: RequestStatus }[];
}

/**
 * Takes an answer for that of a batch.
 *
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readBatch(what: string, answer: unknown): BatchOutcome {
  // Read with care until it has shown what it is.
  const { items, conflicts } = Object(answer) as Partial<BatchOutcome>;
  if (!Array.isArray(items) || !Array.isArray(conflicts)) throw unexpectedAnswer(what, 'batch');
  return { items: items.map((item) => readRecord(what, item)), conflicts };
}
