import * as z from 'zod/mini';
import { type Environment, expected, httpUrl, oneOf, type SettingValues, setting, smtpUrl } from '../settings/index.ts';

/** Shorter secrets can be guessed. */
const MIN_SECRET_LENGTH = 32;

/** Settings that say where a program's alerts go. */
export const alertSettings = {
  SMTP_URL: setting(smtpUrl(), 'mail server, like smtps://user:password@host; alerts by e-mail', {
    isSecret: true,
    heading: 'Where its alerts go',
  }),
  ALERT_EMAIL_FROM: setting(
    z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, expected('an e-mail address'))),
    'sender of the e-mails',
  ),
  ALERT_EMAIL_TO: setting(
    z.string().check(z.regex(/^[^\r\n]+@[^\r\n]+$/, expected('e-mail addresses'))),
    'who gets them, with commas between',
  ),
  ALERT_CHAT_WEBHOOK_URL: setting(httpUrl(), 'alerts in a chat', { isSecret: true }),
  ALERT_CHAT_FORM: setting(
    oneOf(['auto', 'slack', 'discord', 'teams', 'telegram']),
    'auto, slack, discord, teams or telegram',
    { initial: 'auto' },
  ),
  ALERT_CHAT_ID: setting(z.string(), "the chat's id, which Telegram wants"),
  ALERT_WEBHOOK_URL: setting(httpUrl(), "signed alerts to a program of one's own", { isSecret: true }),
  ALERT_WEBHOOK_SECRET: setting(
    z.string().check(z.minLength(MIN_SECRET_LENGTH, expected(`at least ${MIN_SECRET_LENGTH} characters`))),
    'by which those are signed, at least 32 characters',
    { isSecret: true },
  ),
} as const;

/** Where alerts go, parsed. */
export type AlertSettings = SettingValues<typeof alertSettings>;

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
