import type { Logger } from '../ports/logger.ts';
import type { WebhookPost } from '../ports/webhookPost.ts';
import type { DeliveryOrder, DeliveryQueue, TakenDelivery } from '../ports/webhookStore.ts';
import { attemptDelivery, HOLD_MS, PER_WEBHOOK } from './attemptDelivery.ts';
import { tellNews } from './tellNews.ts';

interface DrainPorts {
  /** Takes what is due of one webhook. */
  readonly take: (order: DeliveryOrder) => Promise<readonly TakenDelivery[]>;
  readonly settle: DeliveryQueue['settle'];
  readonly post: WebhookPost;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Delivers what is due of one webhook, lot by lot, until nothing is or the time is up.
 *
 * @param until - begins no lot after it; milliseconds since the epoch
 * @throws DependencyUnavailableError
 * @see docs/specification.md WEBHOOK-5
 */
export async function drainDeliveries(ports: DrainPorts, until: number): Promise<void> {
  const { take, settle, logger, now } = ports;
  const { signal } = new AbortController();
  while (now() < until) {
    const taken = await take({ now: now(), holdMs: HOLD_MS, perWebhook: PER_WEBHOOK, underWay: {} });
    if (taken.length === 0) return;
    const outcomes = await Promise.all(taken.map((one) => attemptDelivery(ports, one, signal)));
    for (const news of await settle({ now: now(), outcomes })) tellNews(logger, news);
  }
}
