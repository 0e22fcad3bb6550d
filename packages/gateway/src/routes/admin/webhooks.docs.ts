import { parseWith } from '@prism-gateway/protocol';
import {
  type ChangeWebhookBody,
  listDeliveriesFields,
  parseAddWebhook,
  parseListDeliveries,
  WEBHOOK_EVENTS,
  type WebhookRemoved,
  type WebhookRouteName,
  webhookPathSchema,
} from '@prism-gateway/protocol/webhooks';
import {
  deliveryNotFound,
  deliveryWaits,
  webhookNotFound,
  webhooksFull,
  webhooksUndelivered,
} from '../../http/webhookErrors.ts';
import type { RouteDescription } from '../../openapi/describeRoute.ts';
import type { Parameter } from '../../openapi/document.ts';
import { bodyFaultsExample, errorExample, faultsExample } from '../../openapi/examples/failures.ts';
import { EXAMPLE_REQUEST_ID } from '../../openapi/examples/successes.ts';
import { jsonBody, schemaOf } from '../../openapi/parts/parameters.ts';
import { TAGS } from '../../openapi/text/descriptions.ts';
import type { DeliveryRecord, WebhookRecord } from '../../ports/webhookStore.ts';
import { renderDelivery, renderWebhook } from './renderWebhook.ts';

const NOON = Date.parse('2026-01-01T12:00:00.000Z');
const WEBHOOK_ID = '5f1d3a9c0b7e4e2f8a6d1c2b3e4f5a60';
const SECRET = `whsec_${Buffer.from('an example of thirty-two bytes!!').toString('base64')}`;

const WEBHOOK: WebhookRecord = {
  ...{ webhookId: WEBHOOK_ID, url: 'https://example.org/hooks/prism', events: ['request.succeeded', 'request.failed'] },
  ...{ chainName: 'eip155:31337', label: 'accounting', enabled: true, createdAt: NOON, updatedAt: NOON },
  ...{ secrets: [], health: { waiting: 0, dropped: 0, deliveredAt: NOON + 42_000 } },
};
const DISABLED: WebhookRecord = {
  ...{ ...WEBHOOK, enabled: false },
  health: {
    ...{ waiting: 12, dropped: 0, deliveredAt: NOON, failingSince: NOON + 60_000, disabledAt: NOON + 86_460_000 },
    disabledReason: 'Nothing came through for a day: It answered 500.',
  },
};
const DELIVERY: DeliveryRecord = {
  ...{ deliveryId: '42', messageId: 'msg_0a6f2b1c9d3e4f5a8b7c6d5e4f3a2b1c', requestId: EXAMPLE_REQUEST_ID },
  ...{ event: 'request.succeeded', status: 'waiting', attempts: 2, createdAt: NOON, nextAttemptAt: NOON + 4000 },
  ...{ lastStatus: 500, lastError: 'It answered 500.' },
};
const REMOVED: WebhookRemoved = {
  message: 'The webhook is removed, with all that waited for it.',
  webhookId: WEBHOOK_ID,
};

const notAnId = () => ({
  notAnId: faultsExample('Not the id of a webhook', parseWith(webhookPathSchema, { webhookId: '42' })),
});

const WEBHOOK_PARAMETER: Parameter = {
  name: 'webhookId',
  in: 'path',
  description: 'Id of the webhook.',
  required: true,
  schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  example: WEBHOOK_ID,
};
const DELIVERY_PARAMETER: Parameter = {
  name: 'deliveryId',
  in: 'path',
  description: 'Id of the delivery.',
  required: true,
  schema: { type: 'string', pattern: '^[0-9A-Za-z_-]{1,64}$' },
  example: DELIVERY.deliveryId,
};

/** Shared by the routes of one webhook. */
function describeOne(): Pick<RouteDescription, 'tag' | 'parameters' | 'failures'> {
  return {
    tag: TAGS.webhooks,
    parameters: [WEBHOOK_PARAMETER],
    failures: {
      400: { description: 'The call is not valid.', examples: notAnId() },
      404: {
        description: 'There is no such webhook.',
        examples: { unknown: errorExample('An unknown id', webhookNotFound(WEBHOOK_ID)) },
      },
    },
  };
}

const withSecret = { summary: 'With its secret', value: { ...renderWebhook(WEBHOOK), secret: SECRET } };
const asItIs = { summary: 'As it is now', value: renderWebhook(WEBHOOK) };

function describeAddWebhook(): RouteDescription {
  const { url, events, chainName, label } = WEBHOOK;
  return {
    tag: TAGS.webhooks,
    summary: 'Register a webhook',
    description: `From this answer on, each event of the kinds asked for (${WEBHOOK_EVENTS.join(', ')}) is posted to the URL, signed as Standard Webhooks has it, at least once, in order a request. The secret is shown here alone. Receivers are reached by https at public addresses only, unless the gateway runs with WEBHOOKS_ALLOW_PRIVATE=true. At most 20 webhooks.`,
    requestBody: jsonBody('AddWebhookBody', 'The receiver', {
      ends: { summary: 'What ends on one chain', value: { url, events, chainName, label } },
      all: { summary: 'Everything', value: { url, events: WEBHOOK_EVENTS } },
    }),
    success: { description: 'The webhook.', schema: 'WebhookWithSecret', examples: { added: withSecret } },
    failures: {
      400: {
        description: 'The body is not valid.',
        examples: {
          everyFault: bodyFaultsExample('Several faults', '{"url":"hooks","events":[],"kind":1}', parseAddWebhook),
        },
      },
      409: {
        description: 'Nothing was registered.',
        examples: {
          full: errorExample('Too many', webhooksFull()),
          undelivered: errorExample('Nothing would deliver', webhooksUndelivered()),
        },
      },
    },
  };
}

function describeReadWebhook(): RouteDescription {
  return {
    ...describeOne(),
    summary: 'Read one webhook',
    description: 'Without its secret.',
    success: { description: 'The webhook.', schema: 'Webhook', examples: { one: asItIs } },
  };
}

function describeChangeWebhook(): RouteDescription {
  const one = describeOne();
  const change: ChangeWebhookBody = { enabled: true, chainName: null };
  return {
    ...one,
    summary: 'Change, disable or enable a webhook',
    description:
      'What is given replaces what is there; null takes a filter or the label away. To enable a webhook that was disabled gives all that waits for it another day. While it is disabled, events are not kept for it.',
    requestBody: jsonBody('ChangeWebhookBody', 'What is to be different', {
      enable: { summary: 'Enable it, for all chains', value: change },
    }),
    success: { description: 'The webhook.', schema: 'Webhook', examples: { changed: asItIs } },
  };
}

function describeListDeliveries(): RouteDescription {
  const one = describeOne();
  const query = (name: keyof typeof listDeliveriesFields, description: string): Parameter => ({
    ...{ name, in: 'query', description },
    schema: name === 'limit' ? { type: 'integer', minimum: 1, maximum: 100 } : schemaOf(listDeliveriesFields[name]),
  });
  const refused = parseListDeliveries(new URLSearchParams('status=lost'));
  return {
    ...one,
    summary: 'List the deliveries of a webhook',
    description: 'Newest first. Of those that have ended the last thousand are kept.',
    parameters: [
      WEBHOOK_PARAMETER,
      query('status', 'Only deliveries in this state.'),
      query('requestId', 'Only deliveries of this request.'),
      query('limit', 'Most deliveries of the page, default 20.'),
      query('lastKey', 'Cursor: the `lastKey` of the page before, with the same filters. It is opaque.'),
    ],
    success: {
      description: 'One page.',
      schema: 'DeliveryPage',
      examples: {
        one: { summary: 'The only page', value: { items: [renderDelivery(DELIVERY)], count: 1, lastKey: null } },
      },
    },
    failures: {
      ...one.failures,
      400: {
        description: 'The call is not valid.',
        examples: { ...notAnId(), status: faultsExample('No such state', refused) },
      },
    },
  };
}

function describeResendDelivery(): RouteDescription {
  const one = describeOne();
  return {
    ...one,
    summary: 'Send a delivery once more',
    description: 'One that was delivered, or given up: under the same `webhook-id`, by which receivers know it again.',
    parameters: [WEBHOOK_PARAMETER, DELIVERY_PARAMETER],
    success: {
      description: 'The delivery, which waits again.',
      schema: 'Delivery',
      examples: { waiting: { summary: 'It waits', value: renderDelivery(DELIVERY) } },
    },
    failures: {
      ...one.failures,
      404: {
        description: 'There is no such webhook, or no such delivery of it.',
        examples: {
          webhook: errorExample('An unknown webhook', webhookNotFound(WEBHOOK_ID)),
          delivery: errorExample('An unknown delivery', deliveryNotFound('42')),
        },
      },
      409: { description: 'It waits already.', examples: { waiting: errorExample('It waits', deliveryWaits()) } },
    },
  };
}

function describeListWebhooks(): RouteDescription {
  const webhooks = [renderWebhook(WEBHOOK), renderWebhook(DISABLED)];
  return {
    tag: TAGS.webhooks,
    summary: 'List the webhooks',
    description:
      'All of them, oldest first, without their secrets: how many deliveries wait, how many events found no room (`dropped`), since when nothing comes through (`failingSince`), and why one was disabled.',
    success: {
      description: 'Every webhook.',
      schema: 'WebhookList',
      examples: { two: { summary: 'One that works, one disabled by itself', value: { webhooks, count: 2 } } },
    },
  };
}

/** Describes the routes of webhooks. */
export const describeWebhooks = (): Readonly<Record<WebhookRouteName, RouteDescription>> => ({
  addWebhook: describeAddWebhook(),
  listWebhooks: describeListWebhooks(),
  readWebhook: describeReadWebhook(),
  changeWebhook: describeChangeWebhook(),
  removeWebhook: {
    ...describeOne(),
    summary: 'Remove a webhook',
    description: 'With all that waits for it.',
    success: {
      description: 'It is there no more.',
      schema: 'WebhookRemoved',
      examples: { removed: { summary: 'Removed', value: REMOVED } },
    },
  },
  rotateWebhookSecret: {
    ...describeOne(),
    summary: 'Give a webhook a new secret',
    description:
      'The new secret is shown here alone. The one before signs beside it for a day more. The call has no body.',
    success: { description: 'The webhook.', schema: 'WebhookWithSecret', examples: { rotated: withSecret } },
  },
  listDeliveries: describeListDeliveries(),
  resendDelivery: describeResendDelivery(),
});
