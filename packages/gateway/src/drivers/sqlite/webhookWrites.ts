import type { DatabaseSync } from 'node:sqlite';
import { MAX_WAITING, MAX_WAITING_POSTS } from '../../ports/deliveryRules.ts';
import type { NewWebhook } from '../../ports/webhookStore.ts';
import { createAccessWrites } from '../sql/accessWrites.ts';
import { createDeliveryWrites } from '../sql/deliveryWrites.ts';
import type { SqlWrite } from '../sql/sqlWrite.ts';
import type { TextForm } from '../sql/tables.ts';
import { EVENT_BITS } from '../sql/webhookRows.ts';
import { createWebhookWrites } from '../sql/webhookWrites.ts';
import { createStatements } from './createSnapshot.ts';
import type { QuotedTables } from './tables.ts';

/*
 * The outbox is written by the database itself: triggers, which are there as long as a webhook is, and cost nothing without one.
 */

/** A row that a trigger stores. `event` and `bit` are SQL. */
interface Outbox {
  readonly event: string;
  readonly bit: string;
  readonly at: string;
  readonly maxWaiting: number;
}

const RECORD =
  'json_array(new.chain_name, new.action, new.signer, new.status, new.created_at, new.updated_at, new.tx_hash, new.error_message, new.claimed_by, new.claimed_at)';

/** One delivery for each webhook that wants it and has room; for the others it is counted. Behind an earlier one of its request it waits. */
function writeOutbox(tables: QuotedTables, { event, bit, at, maxWaiting }: Outbox): string {
  const { webhooks, deliveries } = tables;
  const wants = `enabled = 1 AND events & (${bit}) AND coalesce(chain_name, new.chain_name) = new.chain_name AND coalesce(signer, new.signer) = new.signer COLLATE NOCASE`;
  return `
    UPDATE ${webhooks} SET dropped = dropped + 1, dropped_at = ${at} WHERE ${wants} AND waiting >= ${maxWaiting};
    INSERT INTO ${deliveries} (webhook_id, request_id, event, at, record, next_at)
      SELECT id, new.request_id, ${event}, ${at}, ${RECORD}, CASE WHEN EXISTS (
        SELECT 1 FROM ${deliveries} d WHERE d.webhook_id = id AND d.request_id = new.request_id AND d.state = 'waiting'
      ) THEN NULL ELSE ${at} END
      FROM ${webhooks} WHERE ${wants} AND waiting < ${maxWaiting};
    UPDATE ${webhooks} SET waiting = waiting + 1 WHERE ${wants} AND waiting < ${maxWaiting};`;
}

/** Has every move of a request written into the outbox, whichever process makes it. */
function createOutboxTriggers(tables: QuotedTables): string {
  const choose = (values: readonly (string | number)[]) =>
    `CASE new.status WHEN 'processing' THEN ${values[0]} WHEN 'pending' THEN ${values[1]} WHEN 'success' THEN ${values[2]} ELSE ${values[3]} END`;
  const kinds = ['request.claimed', 'request.released', 'request.succeeded', 'request.failed'] as const;
  const created = {
    ...{ event: "'request.created'", bit: String(EVENT_BITS['request.created']) },
    ...{ at: 'new.created_at', maxWaiting: MAX_WAITING_POSTS },
  };
  const moved = {
    ...{ event: choose(kinds.map((kind) => `'${kind}'`)), bit: choose(kinds.map((kind) => EVENT_BITS[kind])) },
    ...{ at: 'new.updated_at', maxWaiting: MAX_WAITING },
  };
  return `
    CREATE TRIGGER IF NOT EXISTS ${tables.webhookCreated} AFTER INSERT ON ${tables.requests} BEGIN
      ${writeOutbox(tables, created)}
    END;
    CREATE TRIGGER IF NOT EXISTS ${tables.webhookMoved} AFTER UPDATE OF status, claimed_by ON ${tables.requests}
    WHEN old.status <> new.status OR old.claimed_by <> new.claimed_by BEGIN
      ${writeOutbox(tables, moved)}
    END;
  `;
}

/** Takes the triggers away. */
function dropOutboxTriggers(tables: QuotedTables): string {
  return `DROP TRIGGER IF EXISTS ${tables.webhookCreated}; DROP TRIGGER IF EXISTS ${tables.webhookMoved};`;
}

/** Makes what runs a write's statements on one connection, in the transaction that is open. */
function createRunner(database: DatabaseSync) {
  const statement = createStatements(database);
  return function runWrite<T>(write: SqlWrite<T>): T {
    let step = write.next();
    while (step.done !== true) step = write.next(statement(step.value.sql).all(...step.value.values));
    return step.value;
  };
}

/** Text stands as it is. */
export const TEXT_FORM: TextForm = { write: (text) => text, read: (text) => text };

/** Prepares the writes that both SQL stores share on one connection. */
export function prepareSharedWrites(database: DatabaseSync, t: QuotedTables) {
  const writes = { ...createAccessWrites(t, TEXT_FORM), ...createWebhookWrites(t), ...createDeliveryWrites(t) };
  const runWrite = createRunner(database);
  type Of<K extends keyof typeof writes> = Parameters<(typeof writes)[K]>[0];
  return {
    noteAct: (act: Of<'noteAct'>) => runWrite(writes.noteAct(act)),
    dropAct: (number: Of<'dropAct'>) => runWrite(writes.dropAct(number)),
    putRelayer: (relayer: Of<'putRelayer'>) => runWrite(writes.putRelayer(relayer)),
    removeRelayer: (address: Of<'removeRelayer'>) => runWrite(writes.removeRelayer(address)),
    suspendRelayer: (suspension: Of<'suspendRelayer'>) => runWrite(writes.suspendRelayer(suspension)),
    addWebhook(webhook: NewWebhook) {
      const added = runWrite(writes.addWebhook(webhook));
      if (added !== undefined) database.exec(createOutboxTriggers(t));
      return added;
    },
    changeWebhook: (change: Of<'changeWebhook'>) => runWrite(writes.changeWebhook(change)),
    rotateWebhook: (rotation: Of<'rotateWebhook'>) => runWrite(writes.rotateWebhook(rotation)),
    removeWebhook(webhookId: string) {
      const wasThere = runWrite(writes.removeWebhook(webhookId));
      if (runWrite(writes.countAll()) === 0) database.exec(dropOutboxTriggers(t));
      return wasThere;
    },
    resendDelivery: (resend: Of<'resendDelivery'>) => runWrite(writes.resendDelivery(resend)),
    takeDeliveries: (order: Of<'takeDeliveries'>) => runWrite(writes.takeDeliveries(order)),
    settleDeliveries: (settlement: Of<'settleDeliveries'>) => runWrite(writes.settleDeliveries(settlement)),
  };
}
