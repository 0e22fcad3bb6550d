import { type Environment, SettingsError } from '@prism-gateway/node/settings';
import * as z from 'zod/mini';

const required = z.string().check(z.minLength(1));

const settingsSchema = z.object({
  REQUESTS_TABLE: required,
  DELIVERIES_TABLE: required,
  /** Where those who deliver are woken up by. */
  WEBHOOKS_QUEUE_URL: z.string().check(z.url()),
  /**
   * The records that the function on the stream writes: one kind each, so that stats are counted by many moves at once and webhooks are
   * sent at once.
   */
  RECORDS: z._default(z.enum(['deliveries', 'stats']), 'deliveries'),
  WEBHOOKS_ALLOW_PRIVATE: z._default(z.enum(['true', 'false']), 'false'),
  LOG_LEVEL: z._default(z.enum(['debug', 'info', 'warn', 'error', 'silent']), 'info'),
});

/** Settings of the functions that deliver; the stack sets them. */
export type WebhooksSettings = z.output<typeof settingsSchema>;

/** Parses the settings of the functions that deliver. @throws SettingsError that names every fault and repeats no value */
export function parseWebhooksSettings(environment: Environment): WebhooksSettings {
  const parsed = settingsSchema.safeParse(environment);
  if (parsed.success) return parsed.data;
  throw new SettingsError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}
