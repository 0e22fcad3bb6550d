import * as z from 'zod/mini';
import { ACTIONS } from '../actions/action.ts';
import { type Fault, faultsFromIssues, type Parsed, parseWith } from '../errors/fault.ts';
import {
  addressFormat,
  chainNameFormat,
  codePointsFormat,
  expecting,
  isoTimeFormat,
  requestIdFormat,
  txHashFormat,
} from '../formats.ts';
import { cursorFormat, DEFAULT_PAGE_SIZE, listRequestsFields } from '../requests/list.ts';
import { readQueryFields } from '../requests/query.ts';
import { REQUEST_STATUSES } from '../requests/status.ts';
import type { Route } from '../routes.ts';

/** Events of a request: it was stored, claimed, given back, or has ended. */
export const WEBHOOK_EVENTS = [
  'request.created',
  'request.claimed',
  'request.released',
  'request.succeeded',
  'request.failed',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** `waiting`: to be sent, now or again. `failed`: given up after a day. */
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const MAX_URL_LENGTH = 2000;
const MAX_LABEL_LENGTH = 200;

const urlError = {
  error: expecting(`an absolute URL of at most ${MAX_URL_LENGTH} characters, without user name, password and #`),
};

function isReceiver(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}

const urlFormat = z.string(urlError).check(
  z.refine(isReceiver, urlError),
  z.meta({
    ...{ description: 'Where events are posted to, by https', examples: ['https://example.org/hooks/prism'] },
    ...{ maxLength: MAX_URL_LENGTH },
  }),
);

const eventsError = { error: expecting('one to five different kinds of event') };
const eventsFormat = z
  .array(z.enum(WEBHOOK_EVENTS, { error: expecting(`one of ${WEBHOOK_EVENTS.join(', ')}`) }), eventsError)
  .check(
    z.minLength(1, eventsError),
    z.refine((kinds) => new Set(kinds).size === kinds.length, eventsError),
    z.meta({ description: 'Kinds of event, each once', uniqueItems: true }),
  );

const labelFormat = codePointsFormat(MAX_LABEL_LENGTH, 'Name for people', 'accounting');

/** Body of `POST /admin/webhooks`. */
export const addWebhookSchema = z.strictObject(
  {
    url: urlFormat,
    events: eventsFormat,
    chainName: z.optional(chainNameFormat),
    signer: z.optional(addressFormat),
    label: z.optional(labelFormat),
  },
  { error: expecting('an object') },
);

/** Body of `PATCH /admin/webhooks/{webhookId}`: what is there replaces, and null takes away. */
export const changeWebhookSchema = z
  .strictObject(
    {
      url: z.optional(urlFormat),
      events: z.optional(eventsFormat),
      chainName: z.optional(z.nullable(chainNameFormat)),
      signer: z.optional(z.nullable(addressFormat)),
      label: z.optional(z.nullable(labelFormat)),
      enabled: z.optional(z.boolean({ error: expecting('true or false') })),
    },
    { error: expecting('an object') },
  )
  .check(
    z.refine((body) => Object.keys(body).length > 0, { error: 'expected at least one field' }),
    z.meta({ minProperties: 1 }),
  );

const idError = { error: expecting('the id of a webhook') };
const deliveryError = { error: expecting('the id of a delivery') };
const webhookIdFormat = z.string(idError).check(z.regex(/^[0-9a-f]{32}$/, idError));
const deliveryIdFormat = z.string(deliveryError).check(z.regex(/^[0-9A-Za-z_-]{1,64}$/, deliveryError));

/** Path parameters of the routes below `/admin/webhooks/{webhookId}`. */
export const webhookPathSchema = z.strictObject({ webhookId: webhookIdFormat });
export const deliveryPathSchema = z.strictObject({ webhookId: webhookIdFormat, deliveryId: deliveryIdFormat });

/**
 * A webhook as the service reports it.
 *
 * @see docs/specification.md WEBHOOK-2
 */
export const webhookSchema = z.strictObject({
  webhookId: webhookIdFormat,
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  chainName: z.optional(chainNameFormat),
  signer: z.optional(addressFormat),
  label: z.optional(z.string()),
  enabled: z.boolean(),
  createdAt: isoTimeFormat,
  updatedAt: isoTimeFormat,
  waiting: z.int(),
  dropped: z.int(),
  droppedAt: z.optional(isoTimeFormat),
  deliveredAt: z.optional(isoTimeFormat),
  failingSince: z.optional(isoTimeFormat),
  disabledAt: z.optional(isoTimeFormat),
  disabledReason: z.optional(z.string()),
});

/** A webhook with its secret, which is shown once. */
export const webhookWithSecretSchema = z.extend(webhookSchema, {
  secret: z.string().check(z.meta({ description: 'Signs the deliveries; shown here and never again' })),
});
export const webhookListSchema = z.strictObject({ webhooks: z.array(webhookSchema), count: z.int() });
export const webhookRemovedSchema = z.strictObject({ message: z.string(), webhookId: webhookIdFormat });

/** A delivery as the service reports it. */
export const deliverySchema = z.strictObject({
  deliveryId: deliveryIdFormat,
  messageId: z.string(),
  requestId: requestIdFormat,
  event: z.enum(WEBHOOK_EVENTS),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int(),
  createdAt: isoTimeFormat,
  nextAttemptAt: z.optional(isoTimeFormat),
  endedAt: z.optional(isoTimeFormat),
  lastStatus: z.optional(z.int()),
  lastError: z.optional(z.string()),
});
export const deliveryPageSchema = z.strictObject({
  items: z.array(deliverySchema),
  count: z.int(),
  lastKey: z.nullable(z.string()),
});

/**
 * A receiver's message: the record as the event left it, without its params, which may be large.
 *
 * @see docs/specification.md WEBHOOK-4
 */
export const webhookMessageSchema = z.strictObject({
  type: z.enum(WEBHOOK_EVENTS),
  timestamp: isoTimeFormat,
  data: z.strictObject({
    requestId: requestIdFormat,
    chainName: chainNameFormat,
    action: z.enum(ACTIONS),
    signer: addressFormat,
    status: z.enum(REQUEST_STATUSES),
    createdAt: isoTimeFormat,
    updatedAt: isoTimeFormat,
    txHash: z.optional(txHashFormat),
    errorMessage: z.optional(z.string()),
    claimedBy: z.optional(addressFormat),
    claimedAt: z.optional(isoTimeFormat),
  }),
});

export type AddWebhookBody = z.infer<typeof addWebhookSchema>;
export type ChangeWebhookBody = z.infer<typeof changeWebhookSchema>;
export type WebhookBody = z.infer<typeof webhookSchema>;
export type WebhookList = z.infer<typeof webhookListSchema>;
export type WebhookRemoved = z.infer<typeof webhookRemovedSchema>;
export type DeliveryBody = z.infer<typeof deliverySchema>;
export type DeliveryPage = z.infer<typeof deliveryPageSchema>;
export type WebhookMessage = z.infer<typeof webhookMessageSchema>;

/** @see docs/specification.md WEBHOOK-1 */
export const parseAddWebhook = (input: unknown): Parsed<AddWebhookBody> => parseWith(addWebhookSchema, input);
/** @see docs/specification.md WEBHOOK-2 */
export const parseChangeWebhook = (input: unknown): Parsed<ChangeWebhookBody> => parseWith(changeWebhookSchema, input);

/** Query of `GET /admin/webhooks/{webhookId}/deliveries`. */
export interface ListDeliveriesQuery {
  readonly status?: DeliveryStatus | undefined;
  readonly requestId?: string | undefined;
  readonly limit: number;
  readonly lastKey?: string | undefined;
}

/** The query's fields, each as text. */
export const listDeliveriesFields = {
  status: z.optional(z.enum(DELIVERY_STATUSES, { error: expecting(`one of ${DELIVERY_STATUSES.join(', ')}`) })),
  requestId: z.optional(requestIdFormat),
  limit: listRequestsFields.limit,
  lastKey: z.optional(cursorFormat('lastKey')),
} as const;

const listSchema = z.object(listDeliveriesFields);

/** Parses the query of the list of deliveries, which is newest first. @see docs/specification.md WEBHOOK-8 */
export function parseListDeliveries(query: URLSearchParams): Parsed<ListDeliveriesQuery> {
  const faults: Fault[] = [];
  const result = listSchema.safeParse(readQueryFields(query, { names: Object.keys(listDeliveriesFields), faults }));
  if (!result.success) faults.push(...faultsFromIssues(result.error.issues));
  if (!result.success || faults.length > 0) return { faults };
  const { limit, ...rest } = result.data;
  return { value: { ...rest, limit: limit === undefined ? DEFAULT_PAGE_SIZE : Number(limit) } };
}

const admin = { access: 'admin', takesBody: false, success: 200 } as const;

/**
 * The routes of webhooks, by the name of what each does. They stand apart from the others: only programs that serve or call them carry
 * them.
 *
 * @see docs/specification.md WEBHOOK-1
 */
export const WEBHOOK_ROUTES = {
  addWebhook: {
    ...admin,
    method: 'POST',
    path: '/admin/webhooks',
    rateLimit: 'writes',
    takesBody: true,
    success: 201,
    errors: [400, 409],
  },
  listWebhooks: {
    ...admin,
    method: 'GET',
    path: '/admin/webhooks',
    rateLimit: 'reads',
    errors: [],
  },
  readWebhook: {
    ...admin,
    method: 'GET',
    path: '/admin/webhooks/{webhookId}',
    rateLimit: 'reads',
    errors: [400, 404],
  },
  changeWebhook: {
    ...admin,
    method: 'PATCH',
    path: '/admin/webhooks/{webhookId}',
    rateLimit: 'writes',
    takesBody: true,
    errors: [400, 404],
  },
  removeWebhook: {
    ...admin,
    method: 'DELETE',
    path: '/admin/webhooks/{webhookId}',
    rateLimit: 'writes',
    errors: [400, 404],
  },
  rotateWebhookSecret: {
    ...admin,
    method: 'POST',
    path: '/admin/webhooks/{webhookId}/rotate',
    rateLimit: 'writes',
    errors: [400, 404],
  },
  listDeliveries: {
    ...admin,
    method: 'GET',
    path: '/admin/webhooks/{webhookId}/deliveries',
    rateLimit: 'reads',
    errors: [400, 404],
  },
  resendDelivery: {
    ...admin,
    method: 'POST',
    path: '/admin/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
    rateLimit: 'writes',
    errors: [400, 404, 409],
  },
} as const satisfies Record<string, Route>;

export type WebhookRouteName = keyof typeof WEBHOOK_ROUTES;
