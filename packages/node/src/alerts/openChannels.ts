import type { AlertChannel } from './alert.ts';
import type { AlertSettings } from './alertSettings.ts';
import { type ChatForm, openChatChannel } from './openChatChannel.ts';
import { openEmailChannel } from './openEmailChannel.ts';
import { openWebhookChannel } from './openWebhookChannel.ts';

/**
 * Opens the channels that the settings name.
 *
 * @returns none, e-mail, chat, a webhook of one's own, or some of them
 */
export function openChannels(settings: AlertSettings): readonly AlertChannel[] {
  const channels: AlertChannel[] = [];
  const { SMTP_URL: smtpUrl, ALERT_EMAIL_FROM: from, ALERT_EMAIL_TO: to } = settings;
  if (smtpUrl !== undefined && from !== undefined && to !== undefined)
    channels.push(openEmailChannel({ smtpUrl, from, to }));
  if (settings.ALERT_CHAT_WEBHOOK_URL !== undefined) {
    const { ALERT_CHAT_WEBHOOK_URL: webhookUrl, ALERT_CHAT_FORM, ALERT_CHAT_ID: chatId } = settings;
    // The schema knows no other words.
    const form = ALERT_CHAT_FORM as 'auto' | ChatForm;
    channels.push(openChatChannel({ webhookUrl, form, chatId }));
  }
  const { ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret } = settings;
  if (url !== undefined && secret !== undefined) channels.push(openWebhookChannel({ url, secret, now: Date.now }));
  return channels;
}
