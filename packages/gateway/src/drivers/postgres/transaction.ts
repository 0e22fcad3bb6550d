import type { RequestStatus } from '@prism-gateway/protocol';
import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { eventOfMove, type MessageFacts } from '../../rules/webhookMessage.ts';
import { type CommittedMoves, createCounterChanges, type Move, type Weight } from '../sql/createCounterChanges.ts';
import type { HeldRequest, MoveContext } from '../sql/moves.ts';
import { writeOutbox } from '../sql/outbox.ts';
import type { Row } from '../sql/sqlWrite.ts';
import { type Query, translate } from './connect.ts';
import { type NewRequest, saveCreated, weightOf } from './createRequests.ts';
import { errorColumn, HELD_COLUMNS, heldOfRow } from './records.ts';
import { saveCounters } from './saveCounters.ts';
import type { Tables } from './schema.ts';

/** The moves of a transaction, for those who wait for them. */
export interface CommittedChanges {
  readonly moves: CommittedMoves;
  readonly requestIds: readonly string[];
  /** Chains in which something has become pending. */
  readonly chainNames: readonly string[];
}

/** One transaction that writes, while nobody else does. */
export interface Transaction extends MoveContext {
  readonly query: Query;
  readonly tables: Tables;
  /** Takes what was read first, behind the lock. */
  begin(start: TransactionStart): void;
  /** Reads records that are to be moved, or made. @param whole - those of which params are read too */
  load(requestIds: readonly string[], whole?: readonly string[]): Promise<void>;
  /** Reads what relayers hold and have done. */
  loadRelayers(relayers: readonly string[]): Promise<void>;
  /** Notes when a relayer has called. */
  seen(relayer: string, at: number): void;
  /** Notes a new record, which is not there yet. */
  created(request: NewRequest): void;
  /** Notes that a record is gone. */
  removed(gone: {
    readonly requestId: string;
    readonly chainName: string;
    readonly status: RequestStatus;
    readonly at: number;
    readonly weight: Weight | undefined;
  }): void;
  /** Sends the writes of all that has changed, whose end nobody has to wait for before the commit is sent. */
  save(): { readonly changes: CommittedChanges | undefined; readonly written: Promise<unknown> };
}

/** Read under the lock that every writing transaction takes first. */
export interface TransactionStart {
  /** Number of the last move. */
  readonly sequence: number;
  /** Where this transaction numbers from: there, or beyond a gap. */
  readonly from: number;
  /** Those that are enabled. */
  readonly webhooks: readonly Row[];
}

/** @param moved - records, with the numbers of their last moves */
async function saveMoved(
  { query, tables }: Pick<Transaction, 'query' | 'tables'>,
  moved: ReadonlyMap<HeldRequest, number>,
) {
  const rows = [...moved].map(([{ record, callId, heldBy, heldSince }, movedSeq]) => ({
    id: record.requestId,
    status: record.status,
    updated_at: record.updatedAt,
    tx_hash: record.txHash,
    error_message: errorColumn(record),
    claimed_by: record.claimedBy,
    claimed_at: record.claimedAt,
    call_id: callId,
    moved_seq: movedSeq,
    held_by: heldBy,
    held_since: heldSince,
  }));
  await query(
    `UPDATE ${tables.requests} r SET status = d.status, updated_at = d.updated_at, tx_hash = d.tx_hash,
      error_message = d.error_message, claimed_by = d.claimed_by, claimed_at = d.claimed_at, call_id = d.call_id,
      moved_seq = d.moved_seq, held_by = d.held_by, held_since = d.held_since
     FROM json_to_recordset($1) AS d(id uuid, status text, updated_at bigint, tx_hash text, error_message text, claimed_by text,
       claimed_at bigint, call_id text, moved_seq bigint, held_by text, held_since bigint)
     WHERE r.request_id = d.id`,
    [JSON.stringify(rows)],
  );
}

/**
 * Makes the bookkeeping of a transaction. What it loads stands still until its end: it holds the row of `counters` that every writing
 * transaction locks first, so that moves are numbered in the order of their commits.
 */
export function createTransaction({ query, tables }: Pick<Transaction, 'query' | 'tables'>): Transaction {
  const counters = createCounterChanges();
  const known = new Map<string, HeldRequest>();
  const relayersBefore = new Map<string, Row>();
  const made = new Map<string, NewRequest & { readonly movedSeq: number; readonly weight: Weight }>();
  const moved = new Map<HeldRequest, number>();
  const requestIds = new Set<string>();
  const chainNames = new Set<string>();
  const happened: MessageFacts[] = [];
  let start: TransactionStart = { sequence: 0, from: 0, webhooks: [] };
  let last = 0;

  const nextMove = () => ++last;

  function happen(event: WebhookEvent, at: number, record: StoredRequest): void {
    if (start.webhooks.length > 0) happened.push({ event, at, record });
  }

  function changed(held: HeldRequest, move?: Move): void {
    moved.set(held, nextMove());
    requestIds.add(held.record.requestId);
    if (move?.to === null || move === undefined) return;
    counters.note({ ...move, weight: held.weight });
    if (move.to === 'pending') chainNames.add(move.chainName);
    happen(eventOfMove(move.to), held.record.updatedAt, held.record);
  }

  return {
    query,
    tables,
    changed,
    begin(begun) {
      start = begun;
      last = begun.from;
    },
    find: (requestId) => known.get(requestId.toLowerCase()),
    lost: counters.recordConflict,
    seen: counters.recordSeen,
    heldBy(relayer) {
      const key = relayer.toLowerCase();
      return Number(relayersBefore.get(key)?.open_claims ?? 0) + (counters.relayers.get(key)?.open ?? 0);
    },
    async load(ids, whole = []) {
      if (ids.length === 0) return;
      const sql = `SELECT ${HELD_COLUMNS} FROM ${tables.requests} WHERE request_id = ANY($1::uuid[])`;
      const rows = await query(sql, [ids, whole]);
      for (const row of rows) known.set(String(row.request_id), heldOfRow(row));
    },
    async loadRelayers(relayers) {
      if (relayers.length === 0) return;
      const keys = [...new Set(relayers.map((relayer) => relayer.toLowerCase()))];
      const rows = await query(`SELECT key, open_claims, durations FROM ${tables.relayerStats} WHERE key = ANY($1)`, [
        keys,
      ]);
      for (const row of rows) relayersBefore.set(String(row.key), row);
    },
    created(request) {
      const { requestId, chainName, status, createdAt } = request.record;
      if (made.has(requestId)) return;
      const weight = weightOf(request);
      made.set(requestId, { ...request, movedSeq: nextMove(), weight });
      counters.note({ chainName, from: null, to: status, at: createdAt, weight });
      if (status === 'pending') chainNames.add(chainName);
      happen('request.created', createdAt, request.record);
    },
    removed({ requestId, chainName, status, at, weight }) {
      counters.note({ chainName, from: status, to: null, at, weight });
      requestIds.add(requestId);
      // Other processes look at what is waited for when the number has risen.
      nextMove();
    },
    save() {
      const durationsOf = (key: string) => String(relayersBefore.get(key)?.durations ?? '{}');
      const written = Promise.all([
        made.size > 0 && saveCreated({ query, tables }, [...made.values()]),
        moved.size > 0 && saveMoved({ query, tables }, moved),
        ...saveCounters(query, tables, { ...counters, durationsOf }),
        ...writeOutbox(tables, start.webhooks, happened).map(({ sql, values }) => query(translate(sql), values)),
      ]);
      const moves = { after: start.sequence, last, count: last - start.from };
      const isMoved = moves.count > 0;
      return {
        changes: isMoved ? { moves, requestIds: [...requestIds], chainNames: [...chainNames] } : undefined,
        written,
      };
    },
  };
}
