import type { AlertChannel } from './alert.ts';
import type { AlertSettings } from './alertSettings.ts';
import { type ChatForm, openChatChannel } from './openChatChannel.ts';
import { openEmailChannel } from './openEmailChannel.ts';
import { openWebhookChannel } from './openWebhookChannel.ts';

/** How each channel is opened, if the settings name it. */
const CHANNELS: Readonly<Record<AlertChannel['name'], (settings: AlertSettings) => AlertChannel | undefined>> = {
  'e-mail'({ SMTP_URL: smtpUrl, ALERT_EMAIL_FROM: from, ALERT_EMAIL_TO: to }) {
    if (smtpUrl === undefined || from === undefined || to === undefined) return undefined;
    return openEmailChannel({ smtpUrl, from, to });
  },
  chat({ ALERT_CHAT_WEBHOOK_URL: webhookUrl, ALERT_CHAT_FORM, ALERT_CHAT_ID: chatId }) {
    // The schema knows no other words.
    const form = ALERT_CHAT_FORM as 'auto' | ChatForm;
    return webhookUrl === undefined ? undefined : openChatChannel({ webhookUrl, form, chatId });
  },
  webhook({ ALERT_WEBHOOK_URL: url, ALERT_WEBHOOK_SECRET: secret }) {
    return url === undefined || secret === undefined ? undefined : openWebhookChannel({ url, secret, now: Date.now });
  },
};

/** Opens the channels that the settings name. */
export function openChannels(settings: AlertSettings): readonly AlertChannel[] {
  return Object.values(CHANNELS).flatMap((open) => open(settings) ?? []);
}
