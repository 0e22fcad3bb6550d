/** All that only calls of `/admin/webhooks` need, in one place: the function loads it with the first of them. */
import { randomBytes } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createWebhookStore } from '../../drivers/dynamodb/webhookStore.ts';
import type { AdminStore } from '../../ports/adminStore.ts';
import type { Logger } from '../../ports/logger.ts';
import type { CursorCodec } from '../../requests/createCursorCodec.ts';
import type { AdminAccess } from '../../routes/admin/adminAccess.ts';
import { type WebhookEndpoints, webhookEndpoints } from '../../routes/admin/deliveries.ts';
import type { FunctionSettings } from './functionSettings.ts';

export interface WebhookContext {
  readonly client: DynamoDBClient;
  readonly settings: FunctionSettings;
  readonly admin: AdminStore;
  readonly logger: Logger;
  readonly cursors: CursorCodec;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Makes the endpoints of webhooks. The stack has the functions that deliver, or says that it has not. */
export function openWebhookRoutes(context: WebhookContext, access: AdminAccess): WebhookEndpoints {
  const { client, settings, admin, cursors, logger, now } = context;
  const requests = { client, name: settings.tables.requests };
  const webhooks = createWebhookStore({ requests, deliveries: { client, name: settings.deliveriesTable } });
  const ports = { webhooks, admin, cursors, logger, now, randomBytes };
  return webhookEndpoints(ports, access, {
    allowPrivate: settings.WEBHOOKS_ALLOW_PRIVATE,
    canDeliver: async () => settings.hasWebhooks,
  });
}
