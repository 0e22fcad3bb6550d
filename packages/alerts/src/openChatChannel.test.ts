import { expect, test } from 'vitest';
import type { Alert } from './alert.ts';
import { formatChatMessage, guessChatForm } from './openChatChannel.ts';

test.each([
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://api.telegram.org/bot1:x/sendMessage', 'telegram'],
  ['https://chat.example/hooks/x', 'slack'],
  ['https://notdiscord.com/x', 'slack'],
])('%s is of %s', (url, form) => {
  expect(guessChatForm(url)).toBe(form);
});

test('a long message is cut to what the service takes', () => {
  const alert: Alert = { code: 'X', severity: 'info', subject: 's', text: '€😀'.repeat(5000) };
  expect(`${formatChatMessage(alert, { form: 'discord' }).content}`.length).toBeLessThanOrEqual(2000);
  expect(`${formatChatMessage(alert, { form: 'telegram' }).text}`.length).toBeLessThanOrEqual(4096);
});
