import type { DatabaseSync } from 'node:sqlite';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  Release,
  Report,
  Transition,
} from '../../ports/requestStore.ts';
import { eventOfMove } from '../../rules/webhookMessage.ts';
import type { ExpiredStep, ExpiryStep } from '../sql/createRetention.ts';
import { claim, claimAll, type MoveContext, release, reopen, report, reportAll } from '../sql/moves.ts';
import { type Counters, prepareCounters } from './counters.ts';
import { type NewRequest, prepareCreate } from './createWrite.ts';
import { type Outbox, prepareOutbox } from './outbox.ts';
import { prepareReleaseStep, prepareRetention, type ReleasedStep, type ReleaseStep } from './stepWrites.ts';
import {
  type QuotedTables,
  type RequestRow,
  requestOfRow,
  selectHeads,
  selectRequests,
  WEIGHT_COLUMNS,
  weightOf,
} from './tables.ts';

/** The writes of requests, with what each takes and returns. */
export interface RequestWrites {
  create: { readonly input: NewRequest; readonly result: Creation };
  claim: { readonly input: Claim; readonly result: ClaimTransition };
  claimAll: { readonly input: readonly Claim[]; readonly result: readonly BatchTransition[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: readonly Report[]; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
  reopen: { readonly input: Release; readonly result: Transition };
  releaseStep: { readonly input: ReleaseStep; readonly result: ReleasedStep };
  expireStep: { readonly input: ExpiryStep; readonly result: ExpiredStep };
  vacuumStep: { readonly input: null; readonly result: number };
}

const HELD_COLUMNS = ['r.held_by', 'r.held_since', ...WEIGHT_COLUMNS.map((name) => `r.${name}`)];
type HeldRow = readonly [
  ...request: RequestRow,
  heldBy: string | null,
  heldSince: number | null,
  bytes: number,
  peer: string | null,
  network: string | null,
];

/** Prepares the reading and writing of what moves work on. @param columns - begins the query */
function prepareMoves(
  database: DatabaseSync,
  t: QuotedTables,
  { counters, outbox }: { readonly counters: Counters; readonly outbox: Outbox },
  columns: string,
): MoveContext {
  const select = database.prepare(`${columns} WHERE r.request_id = ?`);
  select.setReturnArrays(true);
  const update = database.prepare(`
    UPDATE ${t.requests} SET status = ?, tx_hash = ?, error_message = ?, updated_at = ?, claimed_by = ?, claimed_at = ?, call_id = ?,
      held_by = ?, held_since = ?, moved_seq = ? WHERE request_id = ?`);
  return {
    find(requestId) {
      // The columns are those of HeldRow.
      const row = select.get(requestId) as unknown as HeldRow | undefined;
      if (row === undefined) return undefined;
      const [callId, heldBy, heldSince] = [row[12], row[13], row[14]];
      return { record: requestOfRow(row), callId, heldBy, heldSince, weight: weightOf(row[15], row[16], row[17]) };
    },
    changed({ record, callId, heldBy, heldSince, weight }, move) {
      const { requestId, status, txHash = null, errorMessage = null, updatedAt, claimedBy = null } = record;
      const ended = [status, txHash, errorMessage, updatedAt, claimedBy, record.claimedAt ?? null];
      update.run(...ended, callId, heldBy, heldSince, counters.nextMove(), requestId);
      if (move === undefined) return;
      counters.moved({ ...move, weight });
      outbox.happen(() => ({ event: eventOfMove(status), at: updatedAt, record }));
    },
    heldBy: counters.heldBy,
    lost: counters.lost,
  };
}

/**
 * Prepares the writes of requests on one connection. Call them inside a transaction, and `counters.save` before its commit, or
 * `counters.forget` when it fails.
 */
export function prepareRequestWrites(database: DatabaseSync, tables: QuotedTables, now: () => number) {
  const counters = prepareCounters(database, tables, now);
  const outbox = prepareOutbox(database, tables);
  const books = { counters, outbox };
  const whole = prepareMoves(database, tables, books, selectRequests(tables, ...HELD_COLUMNS));
  const heads = prepareMoves(database, tables, books, selectHeads(tables, ...HELD_COLUMNS));
  const writes = {
    create: prepareCreate(database, tables, books),
    claim: (one: Claim) => claim(whole, one),
    claimAll: (claims: readonly Claim[]) => claimAll(heads, claims),
    report: (one: Report) => report(whole, one),
    reportAll: (reports: readonly Report[]) => reportAll(heads, reports),
    release: (one: Release) => release(whole, one),
    reopen: (one: Release) => reopen(whole, one),
    releaseStep: prepareReleaseStep(database, tables, heads),
    ...prepareRetention(database, tables, counters),
  };
  return { writes, counters, outbox };
}
