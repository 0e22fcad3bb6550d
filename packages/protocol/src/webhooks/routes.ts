import type { Route } from '../routes.ts';

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
    errors: [400, 401, 409, 413, 415, 429, 500, 503],
  },
  listWebhooks: {
    ...admin,
    method: 'GET',
    path: '/admin/webhooks',
    rateLimit: 'reads',
    errors: [401, 429, 500, 503],
  },
  changeWebhook: {
    ...admin,
    method: 'PATCH',
    path: '/admin/webhooks/{webhookId}',
    rateLimit: 'writes',
    takesBody: true,
    errors: [400, 401, 404, 413, 415, 429, 500, 503],
  },
  removeWebhook: {
    ...admin,
    method: 'DELETE',
    path: '/admin/webhooks/{webhookId}',
    rateLimit: 'writes',
    errors: [400, 401, 404, 429, 500, 503],
  },
  rotateWebhookSecret: {
    ...admin,
    method: 'POST',
    path: '/admin/webhooks/{webhookId}/rotate',
    rateLimit: 'writes',
    errors: [400, 401, 404, 429, 500, 503],
  },
  listDeliveries: {
    ...admin,
    method: 'GET',
    path: '/admin/webhooks/{webhookId}/deliveries',
    rateLimit: 'reads',
    errors: [400, 401, 404, 429, 500, 503],
  },
  resendDelivery: {
    ...admin,
    method: 'POST',
    path: '/admin/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
    rateLimit: 'writes',
    errors: [400, 401, 404, 409, 429, 500, 503],
  },
} as const satisfies Record<string, Route>;

export type WebhookRouteName = keyof typeof WEBHOOK_ROUTES;
