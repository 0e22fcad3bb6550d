import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import {
  createLogRecorder,
  listenOnLoopback,
  startBlackHole,
  startChatReceiver,
  startMailServer,
} from '@prism-gateway/testing';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrateDatabase } from '../files/migrateDatabase.ts';
import type { Alert, AlertChannel } from './alert.ts';
import { createOutbox } from './createOutbox.ts';
import { commitTogether, createOutboxTable, OUTBOX_SCHEMA } from './createOutboxTable.ts';
import { createRedactor } from './createRedactor.ts';
import { formatChatMessage, guessChatForm, openChatChannel } from './openChatChannel.ts';
import { openEmailChannel } from './openEmailChannel.ts';
import { openWebhookChannel } from './openWebhookChannel.ts';

const alert: Alert = {
  code: 'TEST',
  severity: 'critical',
  subject: 'Gas <low>',
  text: 'The secret is hunter22, so to say.',
};
const mailbox = { from: 'relayer@example.com', to: 'ops@example.com, boss@example.com' };
const said = 'The secret is [secret], so to say.\nA on chain 1.';

/** An outbox in memory before channels; it is closed with the test. */
function open(channels: readonly AlertChannel[], tryTimeoutMs = TIMEOUT_MS) {
  const database = new DatabaseSync(':memory:');
  migrateDatabase(database, [OUTBOX_SCHEMA]);
  const commit = <Result>(write: () => Result) => commitTogether(database, write);
  const log = createLogRecorder();
  const outbox = createOutbox({
    outbox: createOutboxTable(database, { now: Date.now, commit }),
    channels,
    log,
    redact: createRedactor(['hunter22']),
    signature: 'A on chain 1.',
    now: Date.now,
    firstPauseMs: 5,
    tryTimeoutMs,
  });
  onTestFinished(() => outbox.close());
  return { log, outbox };
}

test('a mail arrives over STARTTLS, by its user, without the secret', async () => {
  await using server = await startMailServer();
  const { outbox } = open([openEmailChannel({ smtpUrl: server.url, certificates: server.certificate, ...mailbox })]);
  outbox.raise(alert);
  await server.waitForMails(1);
  expect(server.mails[0]).toMatchObject({
    from: 'relayer@example.com',
    to: ['ops@example.com', 'boss@example.com'],
    isEncrypted: true,
    user: 'alerts',
  });
  expect(server.mails[0]?.raw).toContain('Subject: [critical] Gas <low>');
  expect(server.mails[0]?.raw).toContain('The secret is [secret]');
});

test('a server whose certificate is not trusted, or with another password, gets no mail, and the log has the reason', async () => {
  await using server = await startMailServer();
  const wrong = server.url.replace('mail-pass-of-the-rig', 'wrong-pass');
  for (const channel of [
    openEmailChannel({ smtpUrl: server.url, ...mailbox }),
    openEmailChannel({ smtpUrl: wrong, certificates: server.certificate, ...mailbox }),
  ]) {
    const { outbox, log } = open([channel]);
    outbox.raise(alert);
    const isReported = () => log.lines.some(({ message }) => message.startsWith('alert not delivered'));
    await expect.poll(isReported).toBe(true);
    outbox.close();
    expect(JSON.stringify(log.lines)).not.toContain('hunter22');
  }
  expect(server.mails).toEqual([]);
});

test.each([
  ['slack', { text: `🚨 Gas &lt;low&gt;\n${said}` }],
  ['discord', { content: `🚨 Gas <low>\n${said}`, allowed_mentions: { parse: [] } }],
  [
    'teams',
    {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'TextBlock', text: `🚨 Gas <low>\n${said}`, wrap: true }],
          },
        },
      ],
    },
  ],
  ['telegram', { chat_id: '-100', text: `🚨 Gas <low>\n${said}`, link_preview_options: { is_disabled: true } }],
] as const)('%s gets its own form', async (form, body) => {
  await using chat = await startChatReceiver();
  const { outbox } = open([openChatChannel({ webhookUrl: chat.url, form, chatId: '-100' })]);
  outbox.raise(alert);
  await chat.waitForMessages(1);
  expect(chat.messages[0]?.body).toEqual(body);
});

test("a webhook of one's own gets the alert, signed over its time and body; one that refuses it is asked again", async () => {
  const calls: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ headers: request.headers, body: await text(request) });
    response.writeHead(calls.length === 1 ? 503 : 204).end();
  });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  const secret = 'a secret of thirty-two characters';
  const { outbox } = open([openWebhookChannel({ url, secret, now: () => 1_900_000_000_000 })]);
  outbox.raise(alert);
  await outbox.drain(TIMEOUT_MS);
  expect(calls).toHaveLength(2);
  const [, { headers, body } = { headers: {}, body: '' }] = calls;
  expect(JSON.parse(body)).toEqual({ ...alert, text: said });
  expect(headers['x-prism-timestamp']).toBe('1900000000');
  const expected = createHmac('sha256', secret).update(`1900000000.${body}`).digest('hex');
  expect(headers['x-prism-signature']).toBe(`v1=${expected}`);
});

// Shows ALERT-1.
test('a refused alert is tried again, in order, and no sooner than the service asks for', async () => {
  await using chat = await startChatReceiver();
  await using server = await startMailServer();
  chat.refuseNext(2, { status: 429, retryAfterSeconds: 0.05 });
  server.refuseNext(1);
  const { outbox } = open([
    openChatChannel({ webhookUrl: chat.url, form: 'slack' }),
    openEmailChannel({ smtpUrl: server.url, certificates: server.certificate, ...mailbox }),
  ]);
  const beganAt = performance.now();
  outbox.raise(alert);
  await Promise.all([chat.waitForMessages(1), server.waitForMails(1)]);
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(100);
  outbox.raise({ ...alert, code: 'SECOND', subject: 'Second' });
  await Promise.all([chat.waitForMessages(2), server.waitForMails(2)]);
  expect(chat.messages.map(({ body }) => JSON.stringify(body).includes('Second'))).toEqual([false, true]);
});

// Shows ALERT-1.
test('a service that never answers holds up neither the caller nor another channel', async () => {
  await using hole = await startBlackHole();
  await using chat = await startChatReceiver();
  const { outbox, log } = open(
    [
      openChatChannel({ webhookUrl: `${hole.url}/hunter22`, form: 'slack' }),
      openWebhookChannel({ url: chat.url, secret: 'x', now: Date.now }),
    ],
    200,
  );
  // Nothing that could be awaited.
  expect(outbox.raise(alert)).toBeUndefined();
  await chat.waitForMessages(1);
  await expect.poll(() => log.lines.some(({ message }) => message.startsWith('alert not delivered'))).toBe(true);
});

test('a mail server that says a word now and then, and never comes to an end, is given up and tried again', async () => {
  const words = new Set<ReturnType<typeof setInterval>>();
  let calls = 0;
  const server = createTcpServer((socket) => {
    calls++;
    // A greeting of many lines, without its last one.
    const word = setInterval(() => socket.write('220-wait\r\n'), 20);
    words.add(word);
    socket.on('error', () => undefined).on('close', () => clearInterval(word));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const word of words) clearInterval(word);
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { log, outbox } = open([openEmailChannel({ smtpUrl: `smtp://127.0.0.1:${port}`, ...mailbox })], 200);
  outbox.raise(alert);
  await vi.waitFor(() => expect(calls).toBeGreaterThan(1), { timeout: TIMEOUT_MS });
  expect(log.lines.map(({ fields }) => fields.reason)).toContain('the mail server did not take the mail in time');
});

// Shows ALERT-2.
test('secrets, and the parts of URLs that hold them, are taken out', () => {
  const redact = createRedactor([
    `0x${'ab'.repeat(32)}`,
    'smtp://user:p%40ssword@mail.example:587',
    'https://rpc.example/v2/key-123?token=t0ken',
    undefined,
    '',
  ]);
  const text = `key ${'ab'.repeat(32)}, p@ssword and p%40ssword at https://rpc.example/v2/key-123?token=t0ken, path /v2/key-123`;
  expect(redact(text)).toBe('key [secret], [secret] and [secret] at [secret], path [secret]');
  expect(redact('nothing to hide')).toBe('nothing to hide');
});

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
