import type { Removal } from '../../ports/adminStore.ts';
import type {
  BatchTransition,
  Claim,
  ClaimTransition,
  Creation,
  Release,
  ReleaseAll,
  Report,
  Transition,
} from '../../ports/requestStore.ts';
import { createAccessWrites } from '../sql/accessWrites.ts';
import type { SharedWrites } from '../sql/adminStore.ts';
import type { ExpiredStep, ExpiryStep } from '../sql/createRetention.ts';
import { createDeliveryWrites } from '../sql/deliveryWrites.ts';
import { BY_ADMINISTRATOR, claim, claimAll, release, reopen, report, reportAll } from '../sql/moves.ts';
import type { SqlValue, SqlWrite } from '../sql/sqlWrite.ts';
import { createWebhookWrites } from '../sql/webhookWrites.ts';
import { translate } from './connect.ts';
import { createRequests, type NewRequest, readSubmitted } from './createRequests.ts';
import { TEXT_FORM, weightOfRow } from './records.ts';
import type { Tables } from './schema.ts';
import type { Transaction } from './transaction.ts';

/** Every write that the store knows, with what each takes and returns. */
export interface Writes extends SharedWrites {
  create: { readonly input: NewRequest; readonly result: Creation };
  claim: { readonly input: Claim; readonly result: ClaimTransition };
  claimAll: { readonly input: readonly Claim[]; readonly result: readonly BatchTransition[] };
  report: { readonly input: Report; readonly result: Transition };
  reportAll: { readonly input: readonly Report[]; readonly result: readonly BatchTransition[] };
  release: { readonly input: Release; readonly result: Transition };
  reopen: { readonly input: Release; readonly result: Transition };
  releaseAll: { readonly input: ReleaseAll; readonly result: number };
  expireStep: { readonly input: ExpiryStep; readonly result: ExpiredStep };
  /** Shows that the database takes writes. */
  probe: { readonly input: null; readonly result: null };
}

export type WriteKind = keyof Writes;
export type WriteOrder = { [K in WriteKind]: { readonly kind: K; readonly input: Writes[K]['input'] } }[WriteKind];
export type WriteResult = Writes[WriteKind]['result'];

const TOGETHER = ['create', 'claim', 'claimAll', 'report', 'reportAll', 'release', 'reopen'] as const;
/** Writes of which many share a transaction, for each works on records that it names. */
export type TogetherOrder = Extract<WriteOrder, { kind: (typeof TOGETHER)[number] }>;

export const isTogether = (order: WriteOrder): order is TogetherOrder => TOGETHER.some((kind) => kind === order.kind);

/** Most records that one step removes, or releases: some milliseconds' work, which others wait for. */
const STEP = 200;

const MOVES = { claim, claimAll, report, reportAll, release, reopen };

function move(tx: Transaction, { kind, input }: Exclude<TogetherOrder, { kind: 'create' }>): WriteResult {
  // `kind` names the function that takes this `input`; TypeScript cannot follow the pair through the union.
  return (MOVES[kind] as (tx: Transaction, input: unknown) => WriteResult)(tx, input);
}

/** The moves of an order. */
const movesOf = ({ kind, input }: TogetherOrder) =>
  kind === 'create' ? [] : [input as Claim | readonly Claim[]].flat();

const isBatch = ({ kind }: TogetherOrder) => kind === 'claimAll' || kind === 'reportAll';

const isCreate = (order: TogetherOrder) => order.kind === 'create';

/**
 * Runs orders of one transaction, in their order as far as they concern the same request.
 *
 * @param begun - resolves once the transaction has; what is read behind it is asked for at once
 * @returns one result an order
 */
export async function runTogether(
  tx: Transaction,
  begun: Promise<void>,
  orders: readonly TogetherOrder[],
): Promise<readonly WriteResult[]> {
  const creates = orders.filter(isCreate).map(({ input }) => input as NewRequest);
  const moves = orders.flatMap(movesOf);
  const idOf = ({ requestId }: { readonly requestId: string }) => requestId.toLowerCase();
  const ids = [...creates.map(({ record }) => record), ...moves].map(idOf);
  const whole = orders
    .filter((order) => !isBatch(order))
    .flatMap(movesOf)
    .map(idOf);
  const [submitted] = await Promise.all([
    readSubmitted(tx, creates),
    begun,
    tx.load([...new Set(ids)], [...new Set(whole)]),
    tx.loadRelayers(moves.map(({ relayer }) => relayer)),
  ]);
  const creations = createRequests(tx, creates, submitted);
  return orders.map((order) => (order.kind === 'create' ? creations.shift() : move(tx, order)));
}

/** Releases some of what a relayer holds, at an administrator's word. */
async function releaseAll(tx: Transaction, { relayer, now, limit }: ReleaseAll): Promise<number> {
  const rows = await tx.query(
    `SELECT request_id, claimed_by FROM ${tx.tables.requests} WHERE status = 'processing' AND lower(claimed_by) = lower($1)
     LIMIT $2`,
    [relayer, Math.min(limit, STEP)],
  );
  await tx.load(rows.map(({ request_id: id }) => String(id)));
  for (const { request_id: id, claimed_by: owner } of rows) {
    release(tx, { requestId: String(id), relayer: String(owner), releaseId: BY_ADMINISTRATOR, now });
  }
  return rows.length;
}

/** Before every id. */
const NIL_ID = '00000000-0000-0000-0000-000000000000';

async function expireStep(tx: Transaction, { status, before, after }: ExpiryStep): Promise<ExpiredStep> {
  // Nobody has ever moved a pending record that no call has left its id on.
  const rows = await tx.query(
    `WITH walked AS (
       SELECT request_id, created_at, updated_at <= $2 AND (status <> 'pending' OR call_id IS NULL) AS is_old
       FROM ${tx.tables.requests} WHERE status = $1 AND created_at <= $2 AND (created_at, request_id) > ($3, $4::uuid)
       ORDER BY created_at, request_id LIMIT ${STEP}),
     removed AS (DELETE FROM ${tx.tables.requests} r USING walked w WHERE r.request_id = w.request_id AND w.is_old
       RETURNING r.request_id, r.chain_name, r.bytes, r.holders)
     SELECT w.request_id, w.created_at, d.chain_name, d.bytes, d.holders FROM walked w LEFT JOIN removed d USING (request_id)
     ORDER BY w.created_at, w.request_id`,
    [status, before, after.createdAt, after.requestId || NIL_ID],
  );
  const gone = rows.filter(({ chain_name: chainName }) => chainName !== null);
  for (const row of gone) {
    const requestId = String(row.request_id);
    tx.removed({ requestId, chainName: String(row.chain_name), status, at: before, weight: weightOfRow(row) });
  }
  const last = rows.at(-1);
  if (rows.length < STEP || last === undefined) return { removed: gone.length };
  return { removed: gone.length, next: { createdAt: Number(last.created_at), requestId: String(last.request_id) } };
}

async function removeRequest(tx: Transaction, requestId: string): Promise<Removal> {
  await tx.load([requestId]);
  const held = tx.find(requestId);
  if (held === undefined) return 'missing';
  const { status, chainName, updatedAt } = held.record;
  if (status === 'processing') return 'claimed';
  await tx.query(`DELETE FROM ${tx.tables.requests} WHERE request_id = $1`, [requestId]);
  tx.removed({ requestId: held.record.requestId, chainName, status, at: updatedAt, weight: held.weight });
  return 'removed';
}

/** Replaces NUL, which a receiver's answer may hold and PostgreSQL's text may not. */
const cleaned = (value: SqlValue) => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value);

/** Runs a write that both SQL stores share. */
async function runWrite<T>({ query }: Transaction, write: SqlWrite<T>): Promise<T> {
  let step = write.next();
  while (step.done !== true) step = write.next(await query(translate(step.value.sql), step.value.values.map(cleaned)));
  return step.value;
}

/** Makes the function that runs an order in a transaction of its own. */
export function createRunAlone(tables: Tables) {
  const shared = {
    ...createAccessWrites(tables, TEXT_FORM),
    ...createWebhookWrites(tables),
    ...createDeliveryWrites(tables),
  };
  type OwnKind = Exclude<WriteKind, TogetherOrder['kind'] | keyof typeof shared>;
  const own: { [K in OwnKind]: (tx: Transaction, input: Writes[K]['input']) => Promise<Writes[K]['result']> } = {
    releaseAll,
    expireStep,
    removeRequest,
    async recordSeen(tx, { address, at }) {
      tx.seen(address, at);
      return null;
    },
    probe: async () => null,
  };
  const isOwn = (kind: string): kind is OwnKind => Object.hasOwn(own, kind);
  return async function runAlone(tx: Transaction, { kind, input }: WriteOrder): Promise<WriteResult> {
    // `kind` names the function that takes this `input`; TypeScript cannot follow the pair through the union.
    if (isOwn(kind)) return await (own[kind] as (tx: Transaction, input: unknown) => Promise<WriteResult>)(tx, input);
    return await runWrite(
      tx,
      (shared[kind as keyof typeof shared] as (input: unknown) => SqlWrite<WriteResult>)(input),
    );
  };
}
