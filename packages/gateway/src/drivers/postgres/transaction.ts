import type { RequestStatus } from '@prism-gateway/protocol';
import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import { MAX_WAITING, MAX_WAITING_POSTS } from '../../ports/deliveryRules.ts';
import type { StoredRequest } from '../../ports/requestStore.ts';
import { eventOfMove } from '../../ports/webhookMessage.ts';
import { type CommittedMoves, createTally, type Move } from '../sql/createTally.ts';
import type { Row } from '../sql/sqlWrite.ts';
import { EVENT_BITS } from '../sql/webhookRows.ts';
import type { Query } from './connect.ts';
import type { MoveContext } from './moves.ts';
import { errorColumn, type HeldRequest, heldOfRow, REQUEST_COLUMNS } from './records.ts';
import { saveTally } from './saveTally.ts';
import type { Tables } from './schema.ts';

/** What a transaction has moved, as those who wait are told of it. */
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
  /** Reads records that are to be moved. */
  load(requestIds: readonly string[]): Promise<void>;
  /** Reads what relayers hold. */
  loadHeld(relayers: readonly string[]): Promise<void>;
  /** Notes when a relayer has called. */
  seen(relayer: string, at: number): void;
  /** Notes a new record, which is stored already. */
  created(record: StoredRequest): void;
  /** Notes that a record is gone. */
  removed(gone: {
    readonly requestId: string;
    readonly chainName: string;
    readonly status: RequestStatus;
    readonly at: number;
  }): void;
  /** Writes all that has changed. @returns undefined: nothing has */
  save(): Promise<CommittedChanges | undefined>;
}

/** An event on its way to the receivers that want it. */
interface Happened {
  readonly event: WebhookEvent;
  readonly at: number;
  readonly record: StoredRequest;
}

const sameSigner = (wanted: unknown, { signer }: StoredRequest) =>
  wanted === null || String(wanted).toLowerCase() === signer.toLowerCase();

function wants(webhook: Row, { event, record }: Happened): boolean {
  const { events, chain_name: chainName, signer } = webhook;
  if ((Number(events) & EVENT_BITS[event]) === 0) return false;
  return (chainName === null || chainName === record.chainName) && sameSigner(signer, record);
}

/** Writes one delivery for each webhook that wants it and has room; for the others it is counted. */
async function saveOutbox(
  { query, tables }: Pick<Transaction, 'query' | 'tables'>,
  webhooks: readonly Row[],
  happened: readonly Happened[],
): Promise<void> {
  const insert = `
    INSERT INTO ${tables.deliveries} (webhook_id, request_id, event, at, record, next_at)
    SELECT $1, $2, $3, $4, $5, CASE WHEN EXISTS (
      SELECT 1 FROM ${tables.deliveries} WHERE webhook_id = $1 AND request_id = $2 AND state = 'waiting'
    ) THEN NULL ELSE $4::bigint END`;
  for (const webhook of webhooks) {
    let waiting = Number(webhook.waiting);
    let dropped = 0;
    let droppedAt = 0;
    for (const one of happened.filter((each) => wants(webhook, each))) {
      const { event, at, record: r } = one;
      if (waiting >= (event === 'request.created' ? MAX_WAITING_POSTS : MAX_WAITING)) {
        dropped++;
        droppedAt = at;
        continue;
      }
      const facts = [
        ...[r.chainName, r.action, r.signer, r.status, r.createdAt, r.updatedAt],
        ...[r.txHash ?? null, r.errorMessage ?? null, r.claimedBy ?? null, r.claimedAt ?? null],
      ];
      await query(insert, [webhook.id, r.requestId, event, at, JSON.stringify(facts)]);
      waiting++;
    }
    await query(
      `UPDATE ${tables.webhooks} SET waiting = $1, dropped = dropped + $2,
        dropped_at = CASE WHEN $2::bigint > 0 THEN $3 ELSE dropped_at END WHERE id = $4`,
      [waiting, dropped, droppedAt, webhook.id],
    );
  }
}

async function saveMoved({ query, tables }: Pick<Transaction, 'query' | 'tables'>, held: readonly HeldRequest[]) {
  const records = held.map(({ record }) => record);
  const column = (read: (record: StoredRequest) => unknown) => records.map((record) => read(record) ?? null);
  await query(
    `UPDATE ${tables.requests} r SET status = d.status, updated_at = d.updated_at, tx_hash = d.tx_hash,
      error_message = d.error_message, claimed_by = d.claimed_by, claimed_at = d.claimed_at, call_id = d.call_id,
      moved_seq = d.moved_seq, held_by = d.held_by, held_since = d.held_since
     FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[],
       $10::text[], $11::bigint[])
       AS d(id, status, updated_at, tx_hash, error_message, claimed_by, claimed_at, call_id, moved_seq, held_by, held_since)
     WHERE r.request_id = d.id`,
    [
      column(({ requestId }) => requestId),
      column(({ status }) => status),
      column(({ updatedAt }) => updatedAt),
      column(({ txHash }) => txHash),
      column(errorColumn),
      column(({ claimedBy }) => claimedBy),
      column(({ claimedAt }) => claimedAt),
      held.map(({ callId }) => callId),
      held.map(({ movedSeq }) => movedSeq),
      held.map(({ heldBy }) => heldBy),
      held.map(({ heldSince }) => heldSince),
    ],
  );
}

/**
 * Begins the bookkeeping of a transaction. What it loads stands still until its end: it holds the row of `counters` that every writing
 * transaction locks first, so that moves are numbered in the order of their commits.
 *
 * @param sequence - the number of the last move, read under that lock
 * @param webhooks - those that are enabled, read under it too
 */
export function createTransaction(
  { query, tables }: { readonly query: Query; readonly tables: Tables },
  { sequence, webhooks }: { readonly sequence: number; readonly webhooks: readonly Row[] },
): Transaction {
  const tally = createTally();
  const known = new Map<string, HeldRequest>();
  const heldBefore = new Map<string, number>();
  const dirty = new Set<HeldRequest>();
  const requestIds = new Set<string>();
  const chainNames = new Set<string>();
  const happened: Happened[] = [];
  let last = sequence;

  const nextMove = () => ++last;

  function happen(event: WebhookEvent, at: number, record: StoredRequest): void {
    if (webhooks.length > 0) happened.push({ event, at, record });
  }

  function changed(held: HeldRequest, move?: Move): void {
    dirty.add(held);
    requestIds.add(held.record.requestId);
    if (move?.to === null || move === undefined) return;
    tally.note(move);
    if (move.to === 'pending') chainNames.add(move.chainName);
    happen(eventOfMove(move.to), held.record.updatedAt, held.record);
  }

  return {
    query,
    tables,
    nextMove,
    changed,
    find: (requestId) => known.get(requestId.toLowerCase()),
    lost: tally.noteConflict,
    seen: tally.noteSeen,
    heldBy(relayer) {
      const key = relayer.toLowerCase();
      return (heldBefore.get(key) ?? 0) + (tally.relayers.get(key)?.open ?? 0);
    },
    async load(ids) {
      if (ids.length === 0) return;
      const rows = await query(`SELECT ${REQUEST_COLUMNS} FROM ${tables.requests} WHERE request_id = ANY($1::uuid[])`, [
        ids,
      ]);
      for (const row of rows) known.set(String(row.request_id), heldOfRow(row));
    },
    async loadHeld(relayers) {
      if (relayers.length === 0) return;
      const keys = [...new Set(relayers.map((relayer) => relayer.toLowerCase()))];
      const rows = await query(`SELECT key, open_claims FROM ${tables.relayerStats} WHERE key = ANY($1)`, [keys]);
      for (const { key, open_claims: open } of rows) heldBefore.set(String(key), Number(open));
    },
    created(record) {
      const { chainName, status, createdAt } = record;
      tally.note({ chainName, from: null, to: status, at: createdAt });
      if (status === 'pending') chainNames.add(chainName);
      happen('request.created', createdAt, record);
    },
    removed({ requestId, chainName, status, at }) {
      tally.note({ chainName, from: status, to: null, at });
      requestIds.add(requestId);
      // Other processes look at what is waited for when the number has risen.
      nextMove();
    },
    async save() {
      if (dirty.size > 0) await saveMoved({ query, tables }, [...dirty]);
      await saveTally(query, tables, tally);
      if (happened.length > 0) await saveOutbox({ query, tables }, webhooks, happened);
      if (last === sequence) return undefined;
      const moves = { after: sequence, last };
      return { moves, requestIds: [...requestIds], chainNames: [...chainNames] };
    },
  };
}
