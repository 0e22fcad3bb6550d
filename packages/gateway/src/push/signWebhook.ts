import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
/** Bytes of a secret; the specification wants 24 to 64. */
export const WEBHOOK_SECRET_BYTES = 32;

/** Writes a secret as receivers are given it. */
export const writeWebhookSecret = (bytes: Uint8Array): string => `${PREFIX}${Buffer.from(bytes).toString('base64')}`;

/** A message as it goes out. */
interface SignedMessage {
  readonly messageId: string;
  /** Seconds since the epoch: when it is sent, not when it happened. */
  readonly sentAt: number;
  readonly body: string;
}

function signOnce(secret: string, { messageId, sentAt, body }: SignedMessage): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${messageId}.${sentAt}.${body}`).digest('base64')}`;
}

/**
 * Writes the headers of a delivery, signed by each secret that is valid: during a rotation a receiver needs to know one of them.
 *
 * @param secrets - `whsec_` and base64, newest first
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * @see docs/specification.md WEBHOOK-4
 */
export function signWebhook(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  return {
    'webhook-id': message.messageId,
    'webhook-timestamp': String(message.sentAt),
    'webhook-signature': secrets.map((secret) => signOnce(secret, message)).join(' '),
  };
}
