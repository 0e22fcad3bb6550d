import { parseWith } from '@prism-gateway/protocol';
import {
  type DeliveryPage,
  deliveryPathSchema,
  parseListDeliveries,
  WEBHOOK_ROUTES,
  type WebhookRouteName,
  webhookPathSchema,
} from '@prism-gateway/protocol/webhooks';
import type { Endpoint } from '../../http/endpoint.ts';
import { requireValid } from '../../http/request.ts';
import { jsonResponse } from '../../http/response.ts';
import { deliveryNotFound, deliveryWaits, webhooksUndelivered } from '../../http/webhookErrors.ts';
import type { CursorCodec } from '../../requests/createCursorCodec.ts';
import { type AdminAccess, auditAct } from './adminAccess.ts';
import { renderDelivery } from './renderWebhook.ts';
import {
  addWebhookEndpoint,
  changeWebhookEndpoint,
  findWebhook,
  listWebhooksEndpoint,
  readWebhookEndpoint,
  removeWebhookEndpoint,
  rotateSecretEndpoint,
  type WebhookOptions,
  type WebhookPorts,
} from './webhooks.ts';

interface DeliveryPorts extends WebhookPorts {
  readonly cursors: CursorCodec;
}

/** `GET /admin/webhooks/{webhookId}/deliveries`: newest first. */
function listDeliveriesEndpoint(ports: DeliveryPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.listDeliveries,
    async handle({ params, query }) {
      const [{ webhookId }, { status, requestId, limit, lastKey }] = requireValid(
        parseWith(webhookPathSchema, { webhookId: params.webhookId }),
        parseListDeliveries(new URLSearchParams(query)),
      );
      await findWebhook(ports, webhookId);
      const scope = { list: ['deliveries', webhookId, status, requestId] };
      const after = lastKey === undefined ? undefined : ports.cursors.open(lastKey, scope);
      const order = { webhookId, status, requestId: requestId?.toLowerCase(), limit: limit + 1, after };
      const found = await ports.webhooks.listDeliveries(order);
      if (found === undefined) throw webhooksUndelivered();
      const items = found.slice(0, limit).map(renderDelivery);
      const last = found.length > limit ? items.at(-1)?.deliveryId : undefined;
      const next = last === undefined ? null : ports.cursors.seal(last, scope);
      const body: DeliveryPage = { items, count: items.length, lastKey: next };
      return jsonResponse(200, body);
    },
  };
}

/** `POST /admin/webhooks/{webhookId}/deliveries/{deliveryId}/resend`: sends what has ended once more, under its own id. */
function resendDeliveryEndpoint(ports: WebhookPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.resendDelivery,
    async handle({ params: { webhookId, deliveryId } }, keyId) {
      const [path] = requireValid(parseWith(deliveryPathSchema, { webhookId, deliveryId }));
      await findWebhook(ports, path.webhookId);
      const target = `${path.webhookId}/${path.deliveryId}`;
      const delivery = await auditAct(ports, { act: 'webhooks.resend', keyId, target }, async () => {
        const sent = await ports.webhooks.resend({ ...path, now: ports.now() });
        if (sent === 'missing') throw deliveryNotFound(path.deliveryId);
        if (sent === 'waiting') throw deliveryWaits();
        return sent;
      });
      return jsonResponse(200, renderDelivery(delivery));
    },
  };
}

/** One for each route of webhooks. */
export type WebhookEndpoints = Readonly<Record<WebhookRouteName, Endpoint<string>>>;

/**
 * Makes all endpoints of webhooks.
 *
 * @see docs/specification.md WEBHOOK-1
 */
export function webhookEndpoints(ports: DeliveryPorts, access: AdminAccess, options: WebhookOptions): WebhookEndpoints {
  return {
    addWebhook: addWebhookEndpoint(ports, access, options),
    listWebhooks: listWebhooksEndpoint(ports, access),
    readWebhook: readWebhookEndpoint(ports, access),
    changeWebhook: changeWebhookEndpoint(ports, access, options),
    removeWebhook: removeWebhookEndpoint(ports, access),
    rotateWebhookSecret: rotateSecretEndpoint(ports, access),
    listDeliveries: listDeliveriesEndpoint(ports, access),
    resendDelivery: resendDeliveryEndpoint(ports, access),
  };
}
