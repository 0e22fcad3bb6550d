import type { DatabaseSync } from 'node:sqlite';
import { createAccessWrites } from '../sql/accessWrites.ts';
import { createDeliveryWrites } from '../sql/deliveryWrites.ts';
import type { SqlWrite } from '../sql/sqlWrite.ts';
import type { TextForm } from '../sql/tables.ts';
import { createWebhookWrites } from '../sql/webhookWrites.ts';
import { createStatements } from './createSnapshot.ts';
import type { QuotedTables } from './tables.ts';

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
    recordAct: (act: Of<'recordAct'>) => runWrite(writes.recordAct(act)),
    dropAct: (number: Of<'dropAct'>) => runWrite(writes.dropAct(number)),
    putRelayer: (relayer: Of<'putRelayer'>) => runWrite(writes.putRelayer(relayer)),
    removeRelayer: (address: Of<'removeRelayer'>) => runWrite(writes.removeRelayer(address)),
    suspendRelayer: (suspension: Of<'suspendRelayer'>) => runWrite(writes.suspendRelayer(suspension)),
    addWebhook: (webhook: Of<'addWebhook'>) => runWrite(writes.addWebhook(webhook)),
    changeWebhook: (change: Of<'changeWebhook'>) => runWrite(writes.changeWebhook(change)),
    rotateWebhook: (rotation: Of<'rotateWebhook'>) => runWrite(writes.rotateWebhook(rotation)),
    removeWebhook: (webhookId: Of<'removeWebhook'>) => runWrite(writes.removeWebhook(webhookId)),
    resendDelivery: (resend: Of<'resendDelivery'>) => runWrite(writes.resendDelivery(resend)),
    takeDeliveries: (order: Of<'takeDeliveries'>) => runWrite(writes.takeDeliveries(order)),
    finalizeDeliveries: (outcomes: Of<'finalizeDeliveries'>) => runWrite(writes.finalizeDeliveries(outcomes)),
  };
}
