import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signWebhook, WEBHOOK_SECRET_BYTES, writeWebhookSecret } from './signWebhook.ts';

const anySecret = () => writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));
const sentAt = () => Math.floor(Date.now() / 1000);

// Shows WEBHOOK-4.
test('the library of the specification verifies what is signed here, and signs the same', () => {
  for (const body of ['{}', '{"type":"request.failed","data":{"errorMessage":"für nichts 💸"}}', '']) {
    const secret = anySecret();
    const message = { messageId: `msg_${randomBytes(16).toString('hex')}`, sentAt: sentAt(), body };
    const headers = signWebhook([secret], message);
    const library = new Webhook(secret);
    if (body !== '') expect(library.verify(body, headers)).toEqual(JSON.parse(body));
    const theirs = library.sign(message.messageId, new Date(message.sentAt * 1000), body);
    expect(headers['webhook-signature']).toBe(theirs);
  }
});

// Shows WEBHOOK-7.
test('during a rotation either secret verifies, and no other; a changed body, id or time does not', () => {
  const [next, last] = [anySecret(), anySecret()];
  const message = { messageId: 'msg_1', sentAt: sentAt(), body: '{"a":1}' };
  const headers = signWebhook([next, last], message);
  for (const secret of [next, last]) expect(new Webhook(secret).verify(message.body, headers)).toEqual({ a: 1 });
  expect(() => new Webhook(anySecret()).verify(message.body, headers)).toThrow();
  const library = new Webhook(next);
  expect(() => library.verify('{"a":2}', headers)).toThrow();
  expect(() => library.verify(message.body, { ...headers, 'webhook-id': 'msg_2' })).toThrow();
  expect(() => library.verify(message.body, { ...headers, 'webhook-timestamp': String(message.sentAt + 1) })).toThrow();
});
