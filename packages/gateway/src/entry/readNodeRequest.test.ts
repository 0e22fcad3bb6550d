import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { hasFastShape } from '../../test/rigs/hasFastShape.ts';
import { createByteBudget } from '../http/createByteBudget.ts';
import type { TransportRequest } from '../http/request.ts';
import { readNodeRequest } from './readNodeRequest.ts';

test('no request is a table of its own, also once it was asked for its signal', async () => {
  const bodies = createByteBudget({ maxBytes: 1000, now: () => 0 });
  const read: TransportRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const request = readNodeRequest(incoming, { target: { path: '/', query: '' }, bodies });
    expect(request.signal.aborted).toBe(false);
    read.push(request);
    outgoing.end();
  });
  const { url, close } = await listenOnLoopback(server);
  for (let i = 0; i < 3; i++) await (await fetch(url)).text();
  await close();
  expect(read.map(hasFastShape)).toEqual([true, true, true]);
  expect(read.map(({ raw }) => hasFastShape(raw.headers))).toEqual([true, true, true]);
});

test('however often a connection asks for the signal, one listener is on it, which tells that the client has gone', async () => {
  const bodies = createByteBudget({ maxBytes: 1000, now: () => 0 });
  const seen: { readonly signal: AbortSignal; readonly listeners: number }[] = [];
  const server = createServer((incoming, outgoing) => {
    const before = incoming.socket.listenerCount('close');
    const { signal } = readNodeRequest(incoming, { target: { path: '/', query: '' }, bodies });
    seen.push({ signal, listeners: incoming.socket.listenerCount('close') - before });
    outgoing.end();
  });
  const { url, close } = await listenOnLoopback(server);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 3; i++) {
    const [answer] = await once(get(url, { agent }), 'response');
    await answer.resume().toArray();
  }
  expect(seen.map(({ listeners }) => listeners)).toEqual([1, 0, 0]);
  expect(seen.map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
  agent.destroy();
  await expect.poll(() => seen.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  await close();
});
