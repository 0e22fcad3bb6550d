import type { Logger } from '../ports/logger.ts';
import type { WebhookNotice } from '../ports/webhookStore.ts';

/** Logs an event of a webhook for its operator. */
export function logNotice(logger: Logger, { webhookId, kind, why }: WebhookNotice): void {
  const facts = { code: 'WEBHOOK', webhookId, kind, ...(why !== undefined && { why }) };
  if (kind === 'recovered') logger.info(facts, 'webhook');
  else logger.warn(facts, 'webhook');
}
