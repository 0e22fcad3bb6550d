import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startReferenceFrontend } from '../referenceFrontend/startReferenceFrontend.ts';
import { createFrontendClient } from './createFrontendClient.ts';

const PAGE = '\n<!DOCTYPE html><html><body>Please sign in.</body></html>';
const HASH = `0x${'1'.repeat(64)}` as const;

/** A client of a server that answers each call with a text, and what the server was sent. */
async function open(body: string, credentials = '') {
  const heard: IncomingHttpHeaders[] = [];
  const server = await listenOnLoopback(
    createServer((request, response) => {
      heard.push(request.headers);
      request.resume().on('end', () => response.end(body));
    }),
  );
  onTestFinished(server.close);
  const url = server.url.replace('//', `//${credentials}`);
  return { heard, client: createFrontendClient({ url, secret: 'shared', timeoutMs: 20_000 }) };
}

// Shows FRONT-2, FRONT-3.
test('a page for people is no answer, though its status is 200: nothing is listed, claimed or completed', async () => {
  const { client } = await open(PAGE);
  const wrong = { code: 'FRONTEND_NONSENSE' };
  await expect(client.listPending()).rejects.toMatchObject(wrong);
  await expect(client.claim('pi_1')).rejects.toMatchObject(wrong);
  await expect(client.renew({ paymentIntentId: 'pi_1', claimId: '1' })).rejects.toMatchObject(wrong);
  await expect(client.complete({ paymentIntentId: 'pi_1', txHash: HASH })).rejects.toMatchObject(wrong);
  await expect(client.release({ paymentIntentId: 'pi_1', claimId: '1' })).rejects.toMatchObject(wrong);
});

test('a claim is one whatever else the answer says, and credentials of the URL go into a header', async () => {
  for (const body of ['', 'OK', '{}', '<3']) {
    const { client, heard } = await open(body, 'ada:a%20word@');
    expect(await client.claim('pi_1')).toEqual({ answer: 'claimed' });
    expect(heard[0]?.authorization).toBe(`Basic ${Buffer.from('ada:a word').toString('base64')}`);
  }
});

// Shows FRONT-2.
test('a claim is renewed by its name, also after its lease, until another one has claimed the payment', async () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, leaseMs: () => 1000 };
  const frontend = await startReferenceFrontend({ file: ':memory:', secret: 'shared', ...clock });
  onTestFinished(() => frontend.close());
  const client = createFrontendClient({ url: frontend.url, secret: 'shared', timeoutMs: 20_000 });
  const paymentIntentId = 'pi_1';
  frontend.store.add({ paymentIntentId, walletAddress: `0x${'11'.repeat(20)}`, stablecoinAmount: '1' });
  const claim = async () => ({ paymentIntentId, claimId: (await client.claim(paymentIntentId)).claimId ?? 'none' });
  const first = await claim();
  nowMs = 900;
  expect(await client.renew(first)).toBe('renewed');
  nowMs = 1800;
  expect(await client.claim(paymentIntentId)).toEqual({ answer: 'taken' });
  nowMs = 5000;
  expect(await client.renew(first)).toBe('renewed');
  nowMs = 6000;
  const second = await claim();
  expect([await client.renew(first), await client.renew(second)]).toEqual(['taken', 'renewed']);
  await client.complete({ paymentIntentId, txHash: HASH });
  expect(await client.renew(second)).toBe('taken');
  expect(await client.renew({ paymentIntentId: 'pi_2', claimId: 'none' })).toBe('taken');
});
