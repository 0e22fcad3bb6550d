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
 * @param isDone - whether a record shows what was asked for
 * @throws GatewayError UNEXPECTED_ANSWER
 */
export function readBatch(
  { what, isDone }: { readonly what: string; readonly isDone: (record: RequestRecord) => boolean },
  answer: unknown,
): BatchOutcome {
  // Read with care until it has shown what it is.
  const { items, conflicts } = Object(answer) as Partial<BatchOutcome>;
  const isBatch = Array.isArray(items) && Array.isArray(conflicts);
  if (!isBatch || !conflicts.every((conflict) => typeof conflict?.requestId === 'string'))
    throw unexpectedAnswer(what, 'batch');
  const records = items.map((item) => readRecord(what, item));
  if (!records.every(isDone)) throw unexpectedAnswer(what, 'batch of what was asked for');
  return { items: records, conflicts };
}
