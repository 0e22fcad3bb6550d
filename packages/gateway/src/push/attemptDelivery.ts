import type { WebhookPost } from '../ports/webhookPost.ts';
import type { DeliveryOutcome, TakenDelivery } from '../ports/webhookStore.ts';
import { signWebhook } from './signWebhook.ts';

/** How long taken deliveries are nobody else's, in milliseconds: longer than an attempt can take. */
export const HOLD_MS = 15_000;
/** Most deliveries of one process that are under way to one receiver. */
export const PER_WEBHOOK = 8;

interface AttemptPorts {
  readonly post: WebhookPost;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const isSuccess = (status: number) => status >= 200 && status < 300;
const isRedirect = (status: number) => status >= 300 && status < 400;

function explainStatus(status: number): string {
  if (isRedirect(status)) return `It answered ${status}, a redirect, which is not followed.`;
  return `It answered ${status}.`;
}

/**
 * Makes one attempt.
 *
 * @param signal - ends it; the delivery is returned then
 * @see docs/specification.md WEBHOOK-4
 */
export async function attemptDelivery(
  { post, now }: AttemptPorts,
  one: TakenDelivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { deliveryId, webhookId, messageId, body, url } = one;
  const at = now();
  const secrets = one.secrets.filter(({ expiresAt = at + 1 }) => expiresAt > at).map(({ secret }) => secret);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'prism-gateway',
    ...signWebhook(secrets, { messageId, sentAt: Math.floor(at / 1000), body }),
  };
  const answer = await post({ url, headers, body, signal });
  if (signal.aborted) return { deliveryId, webhookId, outcome: 'returned' };
  if ('error' in answer) return { deliveryId, webhookId, outcome: 'refused', error: answer.error };
  const { status } = answer;
  if (isSuccess(status)) return { deliveryId, webhookId, outcome: 'delivered', status };
  return { deliveryId, webhookId, outcome: 'refused', status, error: explainStatus(status) };
}
