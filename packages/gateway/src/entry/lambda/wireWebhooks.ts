import type { Environment } from '@prism-gateway/node/settings';
import { createQueueSender, MAX_DELAY_SECONDS } from '../../drivers/aws/createQueueSender.ts';
import { createDynamoClient } from '../../drivers/dynamodb/createDynamoClient.ts';
import { createDeliveryQueue } from '../../drivers/dynamodb/deliver.ts';
import { createMoveRecorder, type MoveRecorder } from '../../drivers/dynamodb/recordDeliveries.ts';
import { createStatsRecorder } from '../../drivers/dynamodb/recordStats.ts';
import { createWebhookRegister, recordWake } from '../../drivers/dynamodb/webhookRegister.ts';
import { createWebhookPost } from '../../drivers/webhooks/createWebhookPost.ts';
import type { Logger } from '../../ports/logger.ts';
import type { WebhookPost } from '../../ports/webhookPost.ts';
import type { DeliveryOrder, DeliveryQueue, TakenDelivery } from '../../ports/webhookStore.ts';
import { attemptDelivery, HOLD_MS, PER_WEBHOOK } from '../../push/attemptDelivery.ts';
import { logNotice } from '../../push/logNotice.ts';
import type { WebhooksSettings } from './webhooksSettings.ts';

interface WireContext {
  readonly settings: WebhooksSettings;
  readonly environment: Environment;
  readonly logger: Logger;
}

/** The functions that deliver. */
export interface WiredWebhooks {
  /** Takes a batch of the stream. */
  readonly record: MoveRecorder['record'];
  /**
   * Delivers what is due, of one webhook or of all.
   *
   * @throws DependencyUnavailableError, QueueUnavailableError
   */
  deliver(webhookId: string | undefined, until: number): Promise<void>;
}

/** Builds it on DynamoDB and SQS. A message of the queue names a webhook that is to be looked at, and holds nothing that could be lost. */
export function wireWebhooks({ settings, environment, logger }: WireContext): WiredWebhooks {
  const now = Date.now;
  const client = createDynamoClient();
  const deliveries = { client, name: settings.DELIVERIES_TABLE };
  const requests = { client, name: settings.REQUESTS_TABLE };
  const webhooks = createWebhookRegister(requests);
  const queue = createDeliveryQueue({ deliveries, webhooks });
  const post = createWebhookPost({ allowPrivate: settings.WEBHOOKS_ALLOW_PRIVATE === 'true' });
  const send = createQueueSender(settings.WEBHOOKS_QUEUE_URL, environment);

  /** Has somebody look again when something is due, if nobody will. */
  async function wakeLater(webhookId: string, dueAt: number): Promise<void> {
    const delaySeconds = Math.min(MAX_DELAY_SECONDS, Math.max(0, Math.ceil((dueAt - now()) / 1000)));
    const at = now() + 1000 * delaySeconds;
    if (await recordWake(deliveries, webhookId, { now: now(), at })) await send({ body: webhookId, delaySeconds });
  }

  const recorders = {
    deliveries: () =>
      createMoveRecorder({
        ...{ deliveries, webhooks, logger, now },
        async wake(webhookIds) {
          await Promise.all(webhookIds.map((body) => send({ body, delaySeconds: 0 })));
        },
      }),
    stats: () => createStatsRecorder({ requests, deliveries, logger }),
  };
  return {
    ...recorders[settings.RECORDS](),
    async deliver(webhookId, until) {
      const all = await webhooks.list();
      const meant = all.filter((webhook) => webhook.enabled && (webhookId ?? webhook.webhookId) === webhook.webhookId);
      await Promise.all(
        meant.map(async (webhook) => {
          const take = queue.takeOf.bind(queue, webhook);
          await drainDeliveries({ take, finalize: queue.finalize, post, logger, now }, until);
          const dueAt = await queue.dueAtOf(webhook);
          if (dueAt !== undefined) await wakeLater(webhook.webhookId, dueAt);
        }),
      );
    },
  };
}

interface DrainPorts {
  /** Takes what is due of one webhook. */
  readonly take: (order: DeliveryOrder) => Promise<readonly TakenDelivery[]>;
  readonly finalize: DeliveryQueue['finalize'];
  readonly post: WebhookPost;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Delivers what is due of one webhook, lot by lot, until nothing is or the time is up.
 *
 * @throws DependencyUnavailableError
 * @see docs/specification.md WEBHOOK-5
 */
async function drainDeliveries(ports: DrainPorts, until: number): Promise<void> {
  const { take, finalize, logger, now } = ports;
  const { signal } = new AbortController();
  while (now() < until) {
    const taken = await take({ now: now(), holdMs: HOLD_MS, perWebhook: PER_WEBHOOK, underWay: {} });
    if (taken.length === 0) return;
    const outcomes = await Promise.all(taken.map((one) => attemptDelivery(ports, one, signal)));
    for (const notice of await finalize({ now: now(), outcomes })) logNotice(logger, notice);
  }
}
