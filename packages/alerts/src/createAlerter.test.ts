import { createLogRecorder, startBlackHole, startChatReceiver, startMailServer } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import type { Alert, AlertChannel } from './alert.ts';
import { createAlerter } from './createAlerter.ts';
import { createRedactor } from './createRedactor.ts';
import { openChatChannel } from './openChatChannel.ts';
import { openEmailChannel } from './openEmailChannel.ts';

const alert: Alert = {
  code: 'TEST',
  severity: 'critical',
  subject: 'Gas <low>',
  text: 'The secret is hunter22, so to say.',
};
const mailbox = { from: 'relayer@example.com', to: 'ops@example.com, boss@example.com' };

function create(channels: readonly AlertChannel[], options: { maxTries?: number } = {}) {
  const log = createLogRecorder();
  const redact = createRedactor(['hunter22']);
  return { log, alerter: createAlerter({ channels, log, redact, firstPauseMs: 5, tryTimeoutMs: 2000, ...options }) };
}

test('a mail arrives over STARTTLS, by its user, without the secret', async () => {
  await using server = await startMailServer();
  const channel = openEmailChannel({ smtpUrl: server.url, certificates: server.certificate, ...mailbox });
  const { alerter } = create([channel]);
  alerter.raise(alert);
  await server.waitForMails(1);
  expect(server.mails[0]).toMatchObject({
    from: 'relayer@example.com',
    to: ['ops@example.com', 'boss@example.com'],
    isEncrypted: true,
    user: 'alerts',
  });
  expect(server.mails[0]?.raw).toContain('Subject: [critical] Gas <low>');
  expect(server.mails[0]?.raw).toContain('The secret is [secret]');
  alerter.close();
});

test('a server whose certificate is not trusted, or with another password, gets no mail, and nothing waits', async () => {
  await using server = await startMailServer();
  const wrong = server.url.replace('mail-pass-of-the-rig', 'wrong-pass');
  const channels = [
    openEmailChannel({ smtpUrl: server.url, ...mailbox }),
    openEmailChannel({ smtpUrl: wrong, certificates: server.certificate, ...mailbox }),
  ];
  const { alerter, log } = create(channels, { maxTries: 2 });
  alerter.raise(alert);
  await alerter.drain(10_000);
  expect(server.mails).toEqual([]);
  expect(log.lines.filter(({ message }) => message === 'alert given up')).toHaveLength(2);
  expect(JSON.stringify(log.lines)).not.toContain('hunter22');
  alerter.close();
});

test.each([
  ['slack', { text: '🚨 Gas &lt;low&gt;\nThe secret is [secret], so to say.' }],
  ['discord', { content: '🚨 Gas <low>\nThe secret is [secret], so to say.', allowed_mentions: { parse: [] } }],
  [
    'telegram',
    {
      chat_id: '-100',
      text: '🚨 Gas <low>\nThe secret is [secret], so to say.',
      link_preview_options: { is_disabled: true },
    },
  ],
] as const)('%s gets its own form', async (form, body) => {
  await using chat = await startChatReceiver();
  const { alerter } = create([openChatChannel({ webhookUrl: chat.url, form, chatId: '-100' })]);
  alerter.raise(alert);
  await chat.waitForMessages(1);
  expect(chat.messages[0]?.body).toEqual(body);
  alerter.close();
});

// Shows ALERT-1.
test('a refused alert is tried again, in order, and no sooner than the service asks for', async () => {
  await using chat = await startChatReceiver();
  await using server = await startMailServer();
  chat.refuseNext(2, { status: 429, retryAfterSeconds: 0.05 });
  server.refuseNext(1);
  const { alerter } = create([
    openChatChannel({ webhookUrl: chat.url, form: 'slack' }),
    openEmailChannel({ smtpUrl: server.url, certificates: server.certificate, ...mailbox }),
  ]);
  const beganAt = performance.now();
  alerter.raise(alert);
  alerter.raise({ ...alert, subject: 'Second' });
  await Promise.all([chat.waitForMessages(2), server.waitForMails(2)]);
  expect(performance.now() - beganAt).toBeGreaterThan(100);
  expect(chat.messages.map(({ body }) => JSON.stringify(body).includes('Second'))).toEqual([false, true]);
  alerter.close();
});

// Shows ALERT-1.
test('a service that never answers holds up neither the caller nor another channel', async () => {
  await using hole = await startBlackHole();
  await using chat = await startChatReceiver();
  const { alerter, log } = create(
    [
      openChatChannel({ webhookUrl: `${hole.url}/hunter22`, form: 'slack' }),
      openChatChannel({ webhookUrl: chat.url, form: 'slack' }),
    ],
    { maxTries: 1 },
  );
  // Nothing that could be awaited.
  expect(alerter.raise(alert)).toBeUndefined();
  await chat.waitForMessages(1);
  await alerter.drain(10_000);
  expect(log.lines.some(({ message }) => message === 'alert given up')).toBe(true);
  alerter.close();
});

test('it is told when a channel has taken an alert, and when all have given it up', async () => {
  await using taking = await startChatReceiver();
  await using refusing = await startChatReceiver();
  refusing.refuseNext(10, { status: 500 });
  const [good, bad] = [taking, refusing].map(({ url }) => openChatChannel({ webhookUrl: url, form: 'slack' }));
  const settle = async (channels: readonly (AlertChannel | undefined)[]) => {
    const { alerter } = create(
      channels.filter((channel) => channel !== undefined),
      { maxTries: 2 },
    );
    const told: boolean[] = [];
    alerter.raise(alert, (isTold) => told.push(isTold));
    await alerter.drain(10_000);
    alerter.close();
    return told;
  };
  expect(await settle([bad, good])).toEqual([true]);
  expect(await settle([bad])).toEqual([false]);
  // The log has it.
  expect(await settle([])).toEqual([true]);
});
