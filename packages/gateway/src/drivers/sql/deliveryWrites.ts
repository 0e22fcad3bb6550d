import type { DeliveryOrder, DeliveryOutcome, TakenDelivery, WebhookNotice } from '../../ports/webhookStore.ts';
import {
  evaluateRefusal,
  isGivenUp,
  LONGEST_DELIVERY_PAUSE_MS,
  nextAttemptAt,
  wasDown,
} from '../../rules/deliveries.ts';
import { type Row, run, runOne, type SqlWrite } from './sqlWrite.ts';
import { takenOfRow } from './webhookRows.ts';
import type { WebhookTables } from './webhookWrites.ts';

interface DeliveryOutcomes {
  readonly now: number;
  readonly outcomes: readonly DeliveryOutcome[];
}

/** The writes of deliveries under way, with what each takes and returns. */
export interface DeliveryWrites {
  takeDeliveries: { readonly input: DeliveryOrder; readonly result: readonly TakenDelivery[] };
  finalizeDeliveries: { readonly input: DeliveryOutcomes; readonly result: readonly WebhookNotice[] };
}

/** Ended deliveries that are kept of each webhook, for people to look at and send again. */
const KEPT_ENDED = 1000;
/** How often those beyond are removed, in final deliveries, and how many at once. */
const [TRIM_EVERY, TRIMMED] = [64, 200];

function* take({ webhooks, deliveries }: WebhookTables, order: DeliveryOrder): SqlWrite<readonly TakenDelivery[]> {
  const { now, holdMs, perWebhook, underWay } = order;
  const taken: TakenDelivery[] = [];
  // What lies beyond was written by a clock that was ahead (`boundDue`).
  const beyond = now + LONGEST_DELIVERY_PAUSE_MS;
  const ready = yield* run(
    `SELECT * FROM ${webhooks} WHERE enabled = 1 AND waiting > 0
       AND (paused_until <= ?1 OR paused_until > ?2) AND (probe_until <= ?1 OR probe_until > ?2)`,
    ...[now, beyond],
  );
  for (const webhook of ready) {
    const id = String(webhook.id);
    const isFailing = Number(webhook.fails) > 0;
    const room = isFailing ? 1 : perWebhook - (underWay[id] ?? 0);
    if (room <= 0) continue;
    const due = `SELECT seq FROM ${deliveries} WHERE webhook_id = ?2 AND next_at <= ?3 ORDER BY next_at, seq LIMIT ?4`;
    const held = yield* run(
      `UPDATE ${deliveries} SET next_at = ?1 WHERE seq IN (${due}) RETURNING *`,
      ...[now + holdMs, id, now, room],
    );
    if (held.length < room) {
      const early = `UPDATE ${deliveries} SET next_at = ?1 WHERE webhook_id = ?2 AND next_at > ?3`;
      yield* run(early, now, id, beyond);
    }
    const rows = [...held].sort((one, other) => Number(one.seq) - Number(other.seq));
    if (isFailing && rows.length > 0) {
      yield* run(`UPDATE ${webhooks} SET probe_until = ?1 WHERE id = ?2`, now + holdMs, id);
    }
    taken.push(...rows.map((row) => takenOfRow(row, webhook)));
  }
  return taken;
}

interface End {
  readonly row: Row;
  readonly state: 'delivered' | 'failed';
  readonly one: DeliveryOutcome;
  readonly now: number;
}

/** Ends a delivery; the next one of the same request may follow. */
function* end({ webhooks, deliveries }: WebhookTables, { row, state, one, now }: End): SqlWrite<void> {
  yield* run(
    `UPDATE ${deliveries} SET state = ?1, attempts = attempts + 1, next_at = NULL, ended_at = ?2, last_status = ?3,
      last_error = ?4 WHERE seq = ?5`,
    ...[state, now, one.status ?? null, one.error ?? null, Number(row.seq)],
  );
  yield* run(`UPDATE ${webhooks} SET waiting = waiting - 1 WHERE id = ?1`, one.webhookId);
  yield* run(
    `UPDATE ${deliveries} SET next_at = ?1 WHERE next_at IS NULL AND seq = (
      SELECT min(seq) FROM ${deliveries} WHERE webhook_id = ?2 AND request_id = ?3 AND state = 'waiting')`,
    ...[now, one.webhookId, String(row.request_id)],
  );
}

/** Writes that a webhook does well; of one that was down, all that waits is tried at once. */
function* recordDelivered(t: WebhookTables, webhook: Row, now: number): SqlWrite<WebhookNotice[]> {
  const webhookId = String(webhook.id);
  yield* run(
    `UPDATE ${t.webhooks} SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0, delivered_at = ?1
     WHERE id = ?2`,
    ...[now, webhookId],
  );
  if (!wasDown({ fails: Number(webhook.fails) })) return [];
  yield* run(
    `UPDATE ${t.deliveries} SET next_at = ?1 WHERE webhook_id = ?2 AND next_at > ?1 AND attempts > 0`,
    ...[now, webhookId],
  );
  return [{ webhookId, kind: 'recovered' }];
}

interface Refusal {
  readonly webhook: Row;
  readonly one: DeliveryOutcome;
  readonly now: number;
}

/** Writes that a webhook has refused. */
function* recordRefused(t: WebhookTables, { webhook, one, now }: Refusal): SqlWrite<WebhookNotice[]> {
  const webhookId = String(webhook.id);
  const { fails, failing_since: since, paused_until: pausedUntil } = webhook;
  const failingSince = since === null ? undefined : Number(since);
  const before = { fails: Number(fails), failingSince, pausedUntil: Number(pausedUntil) };
  const evaluation = evaluateRefusal(before, one, now);
  if (evaluation === undefined) return [];
  const { state, disabledReason, notices } = evaluation;
  yield* run(
    `UPDATE ${t.webhooks} SET fails = ?1, failing_since = ?2, paused_until = ?3, probe_until = 0 WHERE id = ?4`,
    ...[state.fails, state.failingSince ?? now, state.pausedUntil, webhookId],
  );
  if (disabledReason !== undefined) {
    yield* run(
      `UPDATE ${t.webhooks} SET enabled = 0, disabled_at = ?1, disabled_reason = ?2 WHERE id = ?3`,
      ...[now, disabledReason, webhookId],
    );
  }
  return notices.map((each) => ({ webhookId, ...each }));
}

function* finalizeRefused(t: WebhookTables, row: Row, refusal: Refusal): SqlWrite<WebhookNotice[]> {
  const { webhook, one, now } = refusal;
  const attempts = Number(row.attempts) + 1;
  const firstFailedAt = row.first_failed_at === null ? undefined : Number(row.first_failed_at);
  const failingSince = webhook.failing_since === null ? undefined : Number(webhook.failing_since);
  const givenUp = isGivenUp({ firstFailedAt, attempts, failingSince }, now);
  const notices = yield* recordRefused(t, refusal);
  if (givenUp && !notices.some((item) => item.kind === 'disabled')) {
    yield* end(t, { row, state: 'failed', one, now });
    return [...notices, { webhookId: one.webhookId, kind: 'given up', why: one.error ?? '' }];
  }
  yield* run(
    `UPDATE ${t.deliveries} SET attempts = attempts + 1, next_at = ?1, first_failed_at = coalesce(first_failed_at, ?2),
      last_status = ?3, last_error = ?4 WHERE seq = ?5`,
    ...[nextAttemptAt(attempts, now), now, one.status ?? null, one.error ?? null, Number(row.seq)],
  );
  return notices;
}

/** Writes on deliveries, for any SQL database. */
export function createDeliveryWrites(t: WebhookTables) {
  /** By webhook: of several that get the same events in turn, one alone would be trimmed. */
  const finalized = new Map<string, number>();

  function* trim(webhookId: string): SqlWrite<void> {
    yield* run(
      `DELETE FROM ${t.deliveries} WHERE seq IN (SELECT seq FROM ${t.deliveries}
        WHERE webhook_id = ?1 AND state <> 'waiting' ORDER BY ended_at DESC LIMIT ${TRIMMED} OFFSET ${KEPT_ENDED})`,
      webhookId,
    );
  }

  function* finalizeOne(one: DeliveryOutcome, now: number): SqlWrite<WebhookNotice[]> {
    const select = `SELECT * FROM ${t.deliveries} WHERE seq = ?1 AND state = 'waiting'`;
    const row = yield* runOne(select, Number(one.deliveryId));
    const webhook = yield* runOne(`SELECT * FROM ${t.webhooks} WHERE id = ?1`, one.webhookId);
    if (webhook === undefined || row === undefined) return [];
    if (one.outcome === 'returned') {
      yield* run(`UPDATE ${t.deliveries} SET next_at = ?1 WHERE seq = ?2`, now, Number(row.seq));
      yield* run(`UPDATE ${t.webhooks} SET probe_until = 0 WHERE id = ?1`, one.webhookId);
      return [];
    }
    const count = finalized.get(one.webhookId) ?? 0;
    finalized.set(one.webhookId, count + 1);
    if (count % TRIM_EVERY === 0) yield* trim(one.webhookId);
    if (one.outcome === 'refused') return yield* finalizeRefused(t, row, { webhook, one, now });
    yield* end(t, { row, state: 'delivered', one, now });
    return yield* recordDelivered(t, webhook, now);
  }

  return {
    takeDeliveries: (order: DeliveryOrder) => take(t, order),
    *finalizeDeliveries({ now, outcomes }: DeliveryOutcomes): SqlWrite<readonly WebhookNotice[]> {
      const notices: WebhookNotice[] = [];
      for (const one of outcomes) notices.push(...(yield* finalizeOne(one, now)));
      return notices;
    },
  };
}
