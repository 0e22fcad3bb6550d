import { createHmac } from 'node:crypto';
import { type AlertChannel, AlertRefusedError } from './alert.ts';

/**
 * Opens the way to a program of one's own. Each call is signed: `x-prism-signature` is `v1=` and the HMAC-SHA256, in hex, of
 * `x-prism-timestamp` (Unix seconds), a point, and the body.
 *
 * @param options - URL, the secret that both sides know, and the clock in milliseconds since the epoch
 * @returns the channel; it throws AlertRefusedError `ALERT_REFUSED` if the program does not take an alert
 * @see docs/payments.md, "Install it"
 */
export function openWebhookChannel(options: {
  readonly url: string;
  readonly secret: string;
  readonly now: () => number;
}): AlertChannel {
  const { url, secret, now } = options;
  return {
    name: 'webhook',
    async deliver(alert, signal) {
      const body = JSON.stringify(alert);
      const timestamp = `${Math.floor(now() / 1000)}`;
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-prism-timestamp': timestamp,
        'x-prism-signature': `v1=${signature}`,
      };
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
      await response.body?.cancel();
      if (!response.ok) throw new AlertRefusedError({ status: response.status });
    },
    close: () => undefined,
  };
}
