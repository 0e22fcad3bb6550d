import type { WebhookEvent } from '@prism-gateway/protocol/webhooks';
import type { DeliveryRecord, TakenDelivery, WebhookRecord, WebhookSecret } from '../../ports/webhookStore.ts';
import { type MessageFacts, messageIdOf, writeMessageBody } from '../../rules/webhookMessage.ts';
import type { Row } from './sqlWrite.ts';

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Each kind's bit in a webhook's `events`. */
export const EVENT_BITS: Readonly<Record<WebhookEvent, number>> = {
  'request.created': 1,
  'request.claimed': 2,
  'request.released': 4,
  'request.succeeded': 8,
  'request.failed': 16,
};

/** Leaves out what has no value. */
function present<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Writes kinds of event as bits. */
export const bitsOf = (events: readonly WebhookEvent[]) => events.reduce((bits, event) => bits | EVENT_BITS[event], 0);

/** Reads the secrets that sign at a time, newest first. */
export function secretsOf(row: Row): readonly WebhookSecret[] {
  const [old, expiresAt] = [textOf(row.old_secret), numberOf(row.old_secret_until)];
  const before = old === undefined || expiresAt === undefined ? [] : [{ secret: old, expiresAt }];
  return [{ secret: String(row.secret) }, ...before];
}

/** Reads a webhook. */
export function webhookOfRow(row: Row): WebhookRecord {
  const events = (Object.keys(EVENT_BITS) as WebhookEvent[]).filter((event) => Number(row.events) & EVENT_BITS[event]);
  return {
    ...{ webhookId: String(row.id), url: String(row.url), events, enabled: row.enabled === 1 },
    ...present({ chainName: textOf(row.chain_name), signer: textOf(row.signer), label: textOf(row.label) }),
    ...{ createdAt: Number(row.created_at), updatedAt: Number(row.updated_at), secrets: secretsOf(row) },
    health: {
      ...{ waiting: Number(row.waiting), dropped: Number(row.dropped) },
      ...present({ droppedAt: numberOf(row.dropped_at), deliveredAt: numberOf(row.delivered_at) }),
      ...present({ failingSince: numberOf(row.failing_since), disabledAt: numberOf(row.disabled_at) }),
      ...present({ disabledReason: textOf(row.disabled_reason) }),
    },
  };
}

/** Reads the id of a delivery's event. */
const messageIdOfRow = ({ webhook_id, seq, request_id, event, at }: Row) =>
  messageIdOf([webhook_id, seq, request_id, event, at]);

/** Reads a delivery. */
export function deliveryOfRow(row: Row): DeliveryRecord {
  return {
    ...{ deliveryId: String(row.seq), messageId: messageIdOfRow(row), requestId: String(row.request_id) },
    // The columns hold what the drivers write.
    ...{ event: row.event as DeliveryRecord['event'], status: row.state as DeliveryRecord['status'] },
    ...{ attempts: Number(row.attempts), createdAt: Number(row.at) },
    ...present({ nextAttemptAt: numberOf(row.next_at), endedAt: numberOf(row.ended_at) }),
    ...present({ lastStatus: numberOf(row.last_status), lastError: textOf(row.last_error) }),
  };
}

/** The fields of a stored record, in the order in which the outbox has them. */
const RECORD_FIELDS = [
  ...['chainName', 'action', 'signer', 'status', 'createdAt', 'updatedAt'],
  ...['txHash', 'errorMessage', 'claimedBy', 'claimedAt'],
];

function writeBody(row: Row): string {
  const values = JSON.parse(String(row.record)) as readonly unknown[];
  const fields = Object.fromEntries(RECORD_FIELDS.map((name, i) => [name, values[i]]));
  // Written by the outbox.
  const record = { requestId: row.request_id, ...present(fields) } as MessageFacts['record'];
  return writeMessageBody({ event: row.event as MessageFacts['event'], at: Number(row.at), record });
}

/** Reads a delivery of a webhook as it is to be sent. */
export function takenOfRow(row: Row, webhook: Row): TakenDelivery {
  return {
    ...{ deliveryId: String(row.seq), messageId: messageIdOfRow(row), webhookId: String(webhook.id) },
    ...{ url: String(webhook.url), secrets: secretsOf(webhook), body: writeBody(row), attempts: Number(row.attempts) },
  };
}
