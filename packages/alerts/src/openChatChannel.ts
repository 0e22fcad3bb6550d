import { AlertRefusedError } from './AlertRefusedError.ts';
import type { AlertChannel } from './alert.ts';
import { type ChatForm, formatChatMessage, guessChatForm } from './formatChatMessage.ts';

/** Where messages go. */
export interface ChatOptions {
  /** The webhook; for Telegram `https://api.telegram.org/bot…/sendMessage`. */
  readonly webhookUrl: string;
  readonly form: 'auto' | ChatForm;
  /** Telegram's chat. */
  readonly chatId?: string | undefined;
}

/** Longest that a service's wish to be left alone is believed, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 300;

/**
 * Opens the way to a chat.
 *
 * @param options - webhook and form
 * @returns the channel; it throws AlertRefusedError `ALERT_REFUSED` where the service does not take an alert
 */
export function openChatChannel(options: ChatOptions): AlertChannel {
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
