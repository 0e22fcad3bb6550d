import type { RequestRecord } from '@prism-gateway/protocol';
import { WEBHOOK_EVENTS, type WebhookEvent, type WebhookMessage } from '@prism-gateway/protocol/webhooks';
import { signWebhook } from '../../push/signWebhook.ts';
import { type Operation, type Parameter, type Paths, schemaRef } from '../document.ts';
import { exampleRecord } from '../examples/successes.ts';
import { TAGS } from '../text/descriptions.ts';

const MEANINGS: Readonly<Record<WebhookEvent, string>> = {
  'request.created': 'A request was stored',
  'request.claimed': 'A relayer has claimed a request',
  'request.released': 'A claimed request is pending again',
  'request.succeeded': 'A request was carried out',
  'request.failed': 'A request has failed',
};

const STATUS_AFTER = {
  'request.created': 'pending',
  'request.claimed': 'processing',
  'request.released': 'pending',
  'request.succeeded': 'success',
  'request.failed': 'failed',
} as const satisfies Readonly<Record<WebhookEvent, string>>;

const SECRET = `whsec_${Buffer.from('an example of thirty-two bytes!!').toString('base64')}`;

const HEADER_MEANINGS: Readonly<Record<string, string>> = {
  'webhook-id': 'The same for each attempt: a receiver takes an id once',
  'webhook-timestamp': 'Unix time of the attempt in seconds: a receiver refuses what is more than five minutes away',
  'webhook-signature':
    '`v1,` and the base64 of the HMAC-SHA-256, with the webhook’s secret, of id, timestamp and raw body, joined by dots; two of them, with a space between, while a secret is changed',
};

function exampleOf(type: WebhookEvent): WebhookMessage {
  // As the service writes records.
  const { params: _, ...data } = exampleRecord('WRITE_DATA_FOR', STATUS_AFTER[type]) as RequestRecord;
  return { type, timestamp: data.updatedAt, data };
}

function describeEvent(type: WebhookEvent): Operation {
  const value = exampleOf(type);
  const message = {
    messageId: 'msg_0a6f2b1c9d3e4f5a8b7c6d5e4f3a2b1c',
    sentAt: 1_767_268_800,
    body: JSON.stringify(value),
  };
  const headers = Object.entries(signWebhook([SECRET], message)).map(
    ([name, example]): Parameter => ({
      ...{ name, in: 'header', description: HEADER_MEANINGS[name] ?? name, required: true },
      ...{ schema: { type: 'string' }, example },
    }),
  );
  return {
    operationId: `receive.${type}`,
    summary: MEANINGS[type],
    description: 'At least once, and in order within a request; signed as Standard Webhooks has it.',
    tags: [TAGS.webhooks],
    security: [],
    parameters: headers,
    requestBody: {
      description: 'The record as the event left it, without its params',
      required: true,
      content: {
        'application/json': {
          schema: {
            ...schemaRef('WebhookMessage'),
            properties: { type: { const: type, description: 'Kind of event' } },
          },
          examples: { event: { summary: MEANINGS[type], value } },
        },
      },
    },
    responses: {
      '2XX': { description: 'It is delivered. An answer has ten seconds.' },
      410: { description: 'Nobody is there any more: the webhook is disabled.' },
      default: {
        description: 'It is sent again, ever more rarely; after a day without success the webhook is disabled.',
      },
    },
  };
}

/** Describes what receivers get, by event. @see https://spec.openapis.org/oas/v3.1.1.html#oas-webhooks */
export const describeEvents = (): Paths =>
  Object.fromEntries(WEBHOOK_EVENTS.map((type) => [type, { post: describeEvent(type) }]));
