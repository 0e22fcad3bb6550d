import type { Logger } from '../ports/logger.ts';
import type { WebhookNews } from '../ports/webhookStore.ts';

/** Logs an event of a webhook for its operator. */
export function tellNews(logger: Logger, { webhookId, news, why }: WebhookNews): void {
  const facts = { code: 'WEBHOOK', webhookId, news, ...(why !== undefined && { why }) };
  if (news === 'recovered') logger.info(facts, 'webhook');
  else logger.warn(facts, 'webhook');
}
