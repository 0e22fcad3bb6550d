import { type Parsed, parseWith } from '@prism-gateway/protocol';
import {
  type ChangeWebhookBody,
  parseAddWebhook,
  parseChangeWebhook,
  WEBHOOK_ROUTES,
  type WebhookList,
  type WebhookRemoved,
  webhookPathSchema,
} from '@prism-gateway/protocol/webhooks';
import type { Endpoint } from '../../http/endpoint.ts';
import { validationFailed } from '../../http/errors.ts';
import { type HttpRequest, parseBody, requireValid } from '../../http/request.ts';
import { createdResponse, jsonResponse } from '../../http/response.ts';
import { webhookNotFound, webhooksFull, webhooksUndelivered } from '../../http/webhookErrors.ts';
import type { AdminStore } from '../../ports/adminStore.ts';
import type { Logger } from '../../ports/logger.ts';
import type { WebhookRecord, WebhookStore, WebhookTarget } from '../../ports/webhookStore.ts';
import { WEBHOOK_SECRET_BYTES, writeWebhookSecret } from '../../push/signWebhook.ts';
import { namesPrivateAddress } from '../../rules/publicAddress.ts';
import { type AdminAccess, auditAct } from './adminAccess.ts';
import { renderWebhook } from './renderWebhook.ts';

export interface WebhookPorts {
  readonly webhooks: WebhookStore;
  readonly admin: AdminStore;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Bytes that nobody can guess. */
  readonly randomBytes: (count: number) => Uint8Array;
}

export interface WebhookOptions {
  /** Whether something delivers here. */
  readonly canDeliver: () => Promise<boolean>;
  /** Whether http and addresses that are not public are allowed. */
  readonly allowPrivate: boolean;
}

const ID_BYTES = 16;

const newSecret = ({ randomBytes }: WebhookPorts) => writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));

/** Reads the id in the path. @throws ApiError VALIDATION_FAILED */
const parsePath = ({ params }: HttpRequest) => parseWith(webhookPathSchema, { webhookId: params.webhookId });

/** Refuses a receiver that would never be connected to. @throws ApiError VALIDATION_FAILED */
function checkReceiver({ allowPrivate }: WebhookOptions, url: string): void {
  if (allowPrivate) return;
  const { protocol, hostname } = new URL(url);
  const unless = 'unless WEBHOOKS_ALLOW_PRIVATE=true';
  if (protocol !== 'https:') throw validationFailed([{ path: 'url', message: `expected https, ${unless}` }]);
  if (namesPrivateAddress(hostname)) {
    throw validationFailed([{ path: 'url', message: `expected no private or loopback address, ${unless}` }]);
  }
}

/** Finds a webhook. @throws ApiError WEBHOOK_NOT_FOUND */
export async function findWebhook({ webhooks }: WebhookPorts, webhookId: string): Promise<WebhookRecord> {
  const webhook = await webhooks.find(webhookId);
  if (webhook === undefined) throw webhookNotFound(webhookId);
  return webhook;
}

/** Leaves out what is null or absent. */
function dropEmpty(filters: { readonly [name in 'chainName' | 'signer' | 'label']?: string | null | undefined }) {
  const given = Object.entries(filters).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(given) as Pick<WebhookTarget, 'chainName' | 'signer' | 'label'>;
}

/** `POST /admin/webhooks`: registers a receiver, and shows its secret, once. */
export function addWebhookEndpoint(
  ports: WebhookPorts,
  access: AdminAccess,
  options: WebhookOptions,
): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.addWebhook,
    async handle(request, keyId) {
      const [{ url, events, ...filters }] = requireValid(parseBody(request.body, parseAddWebhook));
      checkReceiver(options, url);
      if (!(await options.canDeliver())) throw webhooksUndelivered();
      const webhookId = Buffer.from(ports.randomBytes(ID_BYTES)).toString('hex');
      const secret = newSecret(ports);
      const target = { url, events, ...dropEmpty(filters), enabled: true };
      const webhook = await auditAct(ports, { act: 'webhooks.add', keyId, target: webhookId }, async () => {
        const added = await ports.webhooks.add({ ...target, webhookId, secret, now: ports.now() });
        if (added === undefined) throw webhooksFull();
        return added;
      });
      return createdResponse(`webhooks/${webhookId}`, JSON.stringify({ ...renderWebhook(webhook), secret }));
    },
  };
}

/** `GET /admin/webhooks`: all of them, without their secrets. */
export function listWebhooksEndpoint(ports: WebhookPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.listWebhooks,
    async handle() {
      const webhooks = (await ports.webhooks.list()).map(renderWebhook);
      const body: WebhookList = { webhooks, count: webhooks.length };
      return jsonResponse(200, body);
    },
  };
}

/** `GET /admin/webhooks/{webhookId}`: one of them, without its secret. */
export function readWebhookEndpoint(ports: WebhookPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.readWebhook,
    async handle(request) {
      const [{ webhookId }] = requireValid(parsePath(request));
      return jsonResponse(200, renderWebhook(await findWebhook(ports, webhookId)));
    },
  };
}

/** A webhook's settings after a change. */
function applyChange(webhook: WebhookRecord, change: ChangeWebhookBody): WebhookTarget {
  const { url = webhook.url, events = webhook.events, enabled = webhook.enabled, ...filters } = change;
  const { chainName, signer, label } = webhook;
  return { url, events, enabled, ...dropEmpty({ ...dropEmpty({ chainName, signer, label }), ...filters }) };
}

/** `PATCH /admin/webhooks/{webhookId}`: replaces what is given; to enable it begins anew with what waits. */
export function changeWebhookEndpoint(
  ports: WebhookPorts,
  access: AdminAccess,
  options: WebhookOptions,
): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.changeWebhook,
    async handle(request, keyId) {
      const body: Parsed<ChangeWebhookBody> = parseBody(request.body, parseChangeWebhook);
      const [{ webhookId }, change] = requireValid(parsePath(request), body);
      if (change.url !== undefined) checkReceiver(options, change.url);
      const target = applyChange(await findWebhook(ports, webhookId), change);
      const reason = Object.keys(change).join(', ');
      const webhook = await auditAct(ports, { act: 'webhooks.change', keyId, target: webhookId, reason }, async () => {
        const changed = await ports.webhooks.change({ webhookId, target, now: ports.now() });
        if (changed === undefined) throw webhookNotFound(webhookId);
        return changed;
      });
      return jsonResponse(200, renderWebhook(webhook));
    },
  };
}

/** `DELETE /admin/webhooks/{webhookId}`: with all that waits for it. */
export function removeWebhookEndpoint(ports: WebhookPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.removeWebhook,
    async handle(request, keyId) {
      const [{ webhookId }] = requireValid(parsePath(request));
      await auditAct(ports, { act: 'webhooks.remove', keyId, target: webhookId }, async () => {
        if (!(await ports.webhooks.remove(webhookId))) throw webhookNotFound(webhookId);
      });
      const body: WebhookRemoved = { message: 'The webhook is removed, with all that waited for it.', webhookId };
      return jsonResponse(200, body);
    },
  };
}

/** `POST /admin/webhooks/{webhookId}/rotate`: a new secret, shown once; the one before signs beside it for a day. */
export function rotateSecretEndpoint(ports: WebhookPorts, access: AdminAccess): Endpoint<string> {
  return {
    ...access,
    route: WEBHOOK_ROUTES.rotateWebhookSecret,
    async handle(request, keyId) {
      const [{ webhookId }] = requireValid(parsePath(request));
      const secret = newSecret(ports);
      const webhook = await auditAct(ports, { act: 'webhooks.rotate', keyId, target: webhookId }, async () => {
        const rotated = await ports.webhooks.rotate({ webhookId, secret, now: ports.now() });
        if (rotated === undefined) throw webhookNotFound(webhookId);
        return rotated;
      });
      return jsonResponse(200, { ...renderWebhook(webhook), secret });
    },
  };
}
