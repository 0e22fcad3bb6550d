import type { DeliveryBody, WebhookBody } from '@prism-gateway/protocol/webhooks';
import { formatTime } from '../../http/render.ts';
import type { DeliveryRecord, WebhookRecord } from '../../ports/webhookStore.ts';

/** Writes the times that there are. */
function writeTimes<K extends string>(times: Readonly<Record<K, number | undefined>>): { [name in K]?: string } {
  const given = Object.entries<number | undefined>(times).flatMap(([name, ms]) =>
    ms === undefined ? [] : [[name, formatTime(ms)]],
  );
  // The names are those given.
  return Object.fromEntries(given) as { [name in K]?: string };
}

/** Writes a webhook as the wire has it: without its secrets. */
export function renderWebhook({ health, secrets: _, ...webhook }: WebhookRecord): WebhookBody {
  const { createdAt, updatedAt, ...rest } = webhook;
  const { waiting, dropped, droppedAt, deliveredAt, failingSince, disabledAt, disabledReason } = health;
  return {
    ...rest,
    events: [...rest.events],
    ...{ createdAt: formatTime(createdAt), updatedAt: formatTime(updatedAt), waiting, dropped },
    ...writeTimes({ droppedAt, deliveredAt, failingSince, disabledAt }),
    ...(disabledReason !== undefined && { disabledReason }),
  };
}

/** Writes a delivery as the wire has it. */
export function renderDelivery({ createdAt, nextAttemptAt, endedAt, ...rest }: DeliveryRecord): DeliveryBody {
  return { ...rest, createdAt: formatTime(createdAt), ...writeTimes({ nextAttemptAt, endedAt }) };
}
