import { WEBHOOK_ROUTES } from '@prism-gateway/protocol/webhooks';
import type { Endpoint } from '../../http/endpoint.ts';
import type { AdminAccess } from '../../routes/admin/adminAccess.ts';
import type { WebhookContext } from './openWebhookRoutes.ts';

/** Makes the endpoints of webhooks, whose code is loaded when one of them is called: no cold start pays for it. */
export function lazyWebhooks(context: WebhookContext, access: AdminAccess): readonly Endpoint<string>[] {
  let loading: Promise<readonly Endpoint<string>[]> | undefined;
  async function load(): Promise<readonly Endpoint<string>[]> {
    const { openWebhookRoutes } = await import('./openWebhookRoutes.ts');
    return openWebhookRoutes(context, access);
  }
  return Object.values(WEBHOOK_ROUTES).map((route) => ({
    ...access,
    route,
    async handle(request, keyId) {
      loading ??= load();
      const found = (await loading).find((endpoint) => endpoint.route === route);
      if (found === undefined) throw new Error(`${route.path} has no endpoint.`);
      return await found.handle(request, keyId);
    },
  }));
}
