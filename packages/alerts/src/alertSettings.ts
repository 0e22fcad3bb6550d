import { type Environment, expected, httpUrl, oneOf, smtpUrl } from '@prism-gateway/runtime/settings';
import * as z from 'zod/mini';

/** Shorter secrets can be guessed. */
const MIN_SECRET_LENGTH = 32;

/** Fields of a program's settings that say where its alerts go. */
export const alertFields = {
  SMTP_URL: z.optional(smtpUrl()),
  ALERT_EMAIL_FROM: z.optional(z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, expected('an e-mail address')))),
  ALERT_EMAIL_TO: z.optional(z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, expected('e-mail addresses')))),
  ALERT_CHAT_WEBHOOK_URL: z.optional(httpUrl()),
  ALERT_CHAT_FORM: z._default(oneOf(['auto', 'slack', 'discord', 'teams', 'telegram']), 'auto'),
  ALERT_CHAT_ID: z.optional(z.string()),
  ALERT_WEBHOOK_URL: z.optional(httpUrl()),
  ALERT_WEBHOOK_SECRET: z.optional(
    z.string().check(z.minLength(MIN_SECRET_LENGTH, expected(`at least ${MIN_SECRET_LENGTH} characters`))),
  ),
} as const;

const schema = z.object(alertFields);

/** Where alerts go, parsed. */
export type AlertSettings = z.infer<typeof schema>;

/**
 * Finds settings of alerts that do not go together.
 *
 * @returns a sentence a fault, each with the setting's name
 */
export function alertFaults(given: Environment): readonly string[] {
  const faults: string[] = [];
  const isMailed = given.SMTP_URL !== undefined;
  for (const name of ['ALERT_EMAIL_FROM', 'ALERT_EMAIL_TO'] as const) {
    if (isMailed && given[name] === undefined) faults.push(`${name}: required with SMTP_URL`);
    if (!isMailed && given[name] !== undefined) faults.push(`SMTP_URL: required with ${name}`);
  }
  if ((given.ALERT_WEBHOOK_URL === undefined) !== (given.ALERT_WEBHOOK_SECRET === undefined))
    faults.push('ALERT_WEBHOOK_SECRET: required with ALERT_WEBHOOK_URL, and only with it');
  if (given.ALERT_CHAT_FORM === 'telegram' && given.ALERT_CHAT_ID === undefined)
    faults.push('ALERT_CHAT_ID: required with ALERT_CHAT_FORM=telegram');
  return [...new Set(faults)];
}

/**
 * Lists the secrets of such settings: what must never be printed.
 *
 * @returns passwords, and URLs that may hold some
 */
export function alertSecrets(settings: AlertSettings): readonly (string | undefined)[] {
  return [
    settings.SMTP_URL,
    settings.ALERT_CHAT_WEBHOOK_URL,
    settings.ALERT_WEBHOOK_URL,
    settings.ALERT_WEBHOOK_SECRET,
  ];
}
