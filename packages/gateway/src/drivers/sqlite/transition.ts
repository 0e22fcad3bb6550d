import type { DatabaseSync } from 'node:sqlite';
import type {
  BatchBounds,
  BatchTransition,
  ClaimTransition,
  StoredRequest,
  Transition,
} from '../../ports/requestStore.ts';
import { type QuotedTables, type RequestRow, requestOfRow, selectRequests } from './tables.ts';

/** Moves of one call. */
export interface Batch<Move> extends BatchBounds {
  readonly moves: readonly Move[];
}

/**
 * Prepares the reading of a record after a conditional write. The id of the call that moved it last tells whose move it was: this
 * call's, now or at an earlier try, or a rival's.
 */
export function prepareTransition(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`${selectRequests(t)} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  return function transitionOf(requestId: string, callId: string): Transition {
    // The columns are those of RequestRow.
    const row = select.get(requestId) as unknown as RequestRow | undefined;
    if (row === undefined) return { outcome: 'missing' };
    return { outcome: row[12] === callId ? 'moved' : 'conflict', record: requestOfRow(row) };
  };
}

/** Bytes that a record's params take in an answer. */
export const bytesOf = ({ paramsJson }: StoredRequest) => Buffer.byteLength(paramsJson);

/** Writes what became of one move as a batch tells it. */
export function inBatch(transition: ClaimTransition): BatchTransition {
  if (transition.outcome === 'moved' || transition.outcome === 'missing') return transition;
  return { outcome: 'conflict', status: transition.record.status };
}
