import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, onTestFinished, test } from 'vitest';
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
