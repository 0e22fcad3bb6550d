import type { DatabaseSync } from 'node:sqlite';
import { isGivenUp, judgeRefusal, nextAttemptAt, wasDown } from '../../ports/deliveryRules.ts';
import type { DeliveryOrder, DeliveryOutcome, TakenDelivery, WebhookNews } from '../../ports/webhookStore.ts';
import type { QuotedTables } from './tables.ts';
import { type Row, takenOfRow } from './webhookRows.ts';

interface Settlement {
  readonly now: number;
  readonly outcomes: readonly DeliveryOutcome[];
}

/** The writes of deliveries under way, with what each takes and returns. */
export interface DeliveryWrites {
  takeDeliveries: { readonly input: DeliveryOrder; readonly result: readonly TakenDelivery[] };
  settleDeliveries: { readonly input: Settlement; readonly result: readonly WebhookNews[] };
}

/** Ended deliveries that are kept of each webhook, for people to look at and send again. */
const KEPT_ENDED = 1000;
/** How often those beyond are removed, in settled deliveries, and how many at once. */
const [TRIM_EVERY, TRIMMED] = [64, 200];

function prepareTake(database: DatabaseSync, t: QuotedTables) {
  const ready = database.prepare(`
    SELECT * FROM ${t.webhooks} WHERE enabled = 1 AND waiting > 0 AND paused_until <= ?1 AND probe_until <= ?1`);
  const due = database.prepare(`
    SELECT * FROM ${t.deliveries} WHERE webhook_id = ? AND next_at <= ? ORDER BY next_at, seq LIMIT ?`);
  const hold = database.prepare(`UPDATE ${t.deliveries} SET next_at = ? WHERE seq = ?`);
  const probe = database.prepare(`UPDATE ${t.webhooks} SET probe_until = ? WHERE id = ?`);
  return function takeDeliveries({ now, holdMs, perWebhook, underWay }: DeliveryOrder): readonly TakenDelivery[] {
    return ready.all(now).flatMap((webhook) => {
      const id = String(webhook.id);
      const room = Number(webhook.fails) > 0 ? 1 : perWebhook - (underWay[id] ?? 0);
      if (room <= 0) return [];
      const rows = due.all(id, now, room);
      for (const { seq } of rows) hold.run(now + holdMs, Number(seq));
      if (Number(webhook.fails) > 0 && rows.length > 0) probe.run(now + holdMs, id);
      return rows.map((row) => takenOfRow(row, webhook));
    });
  };
}

/** Writes what became of single deliveries; the next one of the same request may follow what has ended. */
function prepareEnds(database: DatabaseSync, t: QuotedTables) {
  const end = database.prepare(`
    UPDATE ${t.deliveries} SET state = ?, attempts = attempts + 1, next_at = NULL, ended_at = ?, last_status = ?,
      last_error = ? WHERE seq = ?`);
  const putOff = database.prepare(`
    UPDATE ${t.deliveries} SET attempts = attempts + 1, next_at = ?, first_failed_at = coalesce(first_failed_at, ?),
      last_status = ?, last_error = ? WHERE seq = ?`);
  const follow = database.prepare(`
    UPDATE ${t.deliveries} SET next_at = ?1 WHERE seq = (
      SELECT min(seq) FROM ${t.deliveries} WHERE webhook_id = ?2 AND request_id = ?3 AND state = 'waiting'
    ) AND next_at IS NULL`);
  const leave = database.prepare(`UPDATE ${t.webhooks} SET waiting = waiting - 1 WHERE id = ?`);
  return {
    putOff,
    end(
      row: Row,
      state: 'delivered' | 'failed',
      { now, one }: { readonly now: number; readonly one: DeliveryOutcome },
    ) {
      end.run(state, now, one.status ?? null, one.error ?? null, Number(row.seq));
      leave.run(one.webhookId);
      follow.run(now, one.webhookId, String(row.request_id));
    },
  };
}

/** Writes how a webhook does. */
function prepareHealth(database: DatabaseSync, t: QuotedTables) {
  const well = database.prepare(`
    UPDATE ${t.webhooks} SET fails = 0, failing_since = NULL, paused_until = 0, probe_until = 0, delivered_at = ?
    WHERE id = ?`);
  const hurry = database.prepare(`
    UPDATE ${t.deliveries} SET next_at = ?1 WHERE webhook_id = ?2 AND next_at > ?1 AND attempts > 0`);
  const ill = database.prepare(`
    UPDATE ${t.webhooks} SET fails = ?, failing_since = coalesce(failing_since, ?), paused_until = ?, probe_until = 0
    WHERE id = ?`);
  const disable = database.prepare(`
    UPDATE ${t.webhooks} SET enabled = 0, disabled_at = ?, disabled_reason = ? WHERE id = ?`);
  return {
    noteDelivered(webhook: Row, now: number): WebhookNews[] {
      const webhookId = String(webhook.id);
      const isBack = wasDown({ fails: Number(webhook.fails) });
      well.run(now, webhookId);
      if (isBack) hurry.run(now, webhookId);
      return isBack ? [{ webhookId, news: 'recovered' }] : [];
    },
    noteRefused(webhook: Row, outcome: DeliveryOutcome, now: number): WebhookNews[] {
      const webhookId = String(webhook.id);
      const { fails, failing_since: since, paused_until: pausedUntil } = webhook;
      const failingSince = since === null ? undefined : Number(since);
      const before = { fails: Number(fails), failingSince, pausedUntil: Number(pausedUntil) };
      const judgement = judgeRefusal(before, outcome, now);
      if (judgement === undefined) return [];
      const { state, disabledReason, news } = judgement;
      ill.run(state.fails, now, state.pausedUntil, webhookId);
      if (disabledReason !== undefined) disable.run(now, disabledReason, webhookId);
      return news.map((one) => ({ webhookId, ...one }));
    },
  };
}

/** Prepares the writes of deliveries on one connection. */
export function prepareDeliveryWrites(database: DatabaseSync, t: QuotedTables) {
  const select = database.prepare(`SELECT * FROM ${t.deliveries} WHERE seq = ? AND state = 'waiting'`);
  const selectWebhook = database.prepare(`SELECT * FROM ${t.webhooks} WHERE id = ?`);
  const returnOne = database.prepare(`UPDATE ${t.deliveries} SET next_at = ? WHERE seq = ?`);
  const endProbe = database.prepare(`UPDATE ${t.webhooks} SET probe_until = 0 WHERE id = ?`);
  const trim = database.prepare(`
    DELETE FROM ${t.deliveries} WHERE seq IN (SELECT seq FROM ${t.deliveries}
      WHERE webhook_id = ? AND state <> 'waiting' ORDER BY ended_at DESC LIMIT ${TRIMMED} OFFSET ${KEPT_ENDED})`);
  const ends = prepareEnds(database, t);
  const health = prepareHealth(database, t);
  let settled = 0;

  function settleOne(one: DeliveryOutcome, now: number): WebhookNews[] {
    const row: Row | undefined = select.get(Number(one.deliveryId));
    const webhook: Row | undefined = selectWebhook.get(one.webhookId);
    if (webhook === undefined || row === undefined) return [];
    if (one.outcome === 'returned') {
      returnOne.run(now, Number(row.seq));
      endProbe.run(one.webhookId);
      return [];
    }
    if (settled++ % TRIM_EVERY === 0) trim.run(one.webhookId);
    if (one.outcome === 'delivered') {
      ends.end(row, 'delivered', { now, one });
      return health.noteDelivered(webhook, now);
    }
    const { first_failed_at: failedAt, attempts } = row;
    const givenUp = isGivenUp(failedAt === null ? undefined : Number(failedAt), now);
    const news = health.noteRefused(webhook, one, now);
    const isDisabled = news.some((item) => item.news === 'disabled');
    if (givenUp && !isDisabled) {
      ends.end(row, 'failed', { now, one });
      return [...news, { webhookId: one.webhookId, news: 'given up', why: one.error ?? '' }];
    }
    const nextAt = nextAttemptAt(Number(attempts) + 1, now);
    ends.putOff.run(nextAt, now, one.status ?? null, one.error ?? null, Number(row.seq));
    return news;
  }

  return {
    takeDeliveries: prepareTake(database, t),
    settleDeliveries: ({ now, outcomes }: Settlement) => outcomes.flatMap((one) => settleOne(one, now)),
  };
}
