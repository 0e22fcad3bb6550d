import { type Alert, type AlertChannel, AlertRefusedError } from './alert.ts';

/** Longest that a service's wish to be left alone is believed, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 300;

/**
 * Opens the way to a chat.
 *
 * @returns the channel; it throws AlertRefusedError `ALERT_REFUSED` if the service does not take an alert
 */
export function openChatChannel(options: {
  /** The webhook; for Telegram `https://api.telegram.org/bot…/sendMessage`. */
  readonly webhookUrl: string;
  readonly form: 'auto' | ChatForm;
  /** Telegram's chat. */
  readonly chatId?: string | undefined;
}): AlertChannel {
  const form = options.form === 'auto' ? guessChatForm(options.webhookUrl) : options.form;
  return {
    name: 'chat',
    async deliver(alert, signal) {
      const response = await fetch(options.webhookUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(formatChatMessage(alert, { form, chatId: options.chatId })),
        redirect: 'error',
        signal,
      });
      await response.body?.cancel();
      if (response.ok) return;
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      const isTime = Number.isFinite(seconds) && seconds >= 0;
      throw new AlertRefusedError({
        status: response.status,
        retryAfterMs: isTime ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 : undefined,
      });
    },
    close: () => undefined,
  };
}

/** Services whose webhooks are known. */
export type ChatForm = 'slack' | 'discord' | 'teams' | 'telegram';

/** Longest message of each service, in characters. */
const MAX_LENGTH: Readonly<Record<ChatForm, number>> = { slack: 39_000, discord: 2000, teams: 20_000, telegram: 4096 };

const SIGNS: Readonly<Record<Alert['severity'], string>> = { info: 'ℹ️', warning: '⚠️', critical: '🚨' };

/** Hosts by which a service is known. */
const HOSTS: readonly (readonly [RegExp, ChatForm])[] = [
  [/(^|\.)discord(app)?\.com$/, 'discord'],
  [/(^|\.)(webhook\.office\.com|logic\.azure\.com|powerplatform\.com)$/, 'teams'],
  [/(^|\.)telegram\.org$/, 'telegram'],
];

/**
 * Which service a webhook belongs to.
 *
 * @returns the service; Slack's form, which many others take, if the host is not known
 */
export function guessChatForm(webhookUrl: string): ChatForm {
  const { hostname } = new URL(webhookUrl);
  return HOSTS.find(([pattern]) => pattern.test(hostname))?.[1] ?? 'slack';
}

/** Slack reads `<…>` and `&` as markup: links, mentions of everyone. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Writes an alert as a service's webhook takes it.
 *
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://discord.com/developers/docs/resources/webhook#execute-webhook
 * @see https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * @see https://core.telegram.org/bots/api#sendmessage
 */
export function formatChatMessage(
  alert: Alert,
  target: { readonly form: ChatForm; readonly chatId?: string | undefined },
): Readonly<Record<string, unknown>> {
  const whole = `${SIGNS[alert.severity]} ${alert.subject}\n${alert.text}`;
  const text = [...whole].slice(0, MAX_LENGTH[target.form]).join('').slice(0, MAX_LENGTH[target.form]);
  switch (target.form) {
    case 'slack':
      return { text: escapeSlack(text) };
    case 'discord':
      return { content: text, allowed_mentions: { parse: [] } };
    case 'teams':
      return {
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: { type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text, wrap: true }] },
          },
        ],
      };
    case 'telegram':
      return { chat_id: target.chatId, text, link_preview_options: { is_disabled: true } };
  }
}
