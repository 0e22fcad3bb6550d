import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback } from '@prism-gateway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { boundConnections } from './boundConnections.ts';
import { boundHeads } from './boundHeads.ts';

const HEAD_BYTES = 10_000;
const MAX_BYTES = 100_000;
const CALL = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function listen() {
  const server = createServer((_incoming, outgoing) => void outgoing.end('ok'));
  const { open: connections, count } = boundConnections(server, { total: 0, perPeer: 0 });
  const budget = boundHeads(server, { maxBytes: MAX_BYTES, connections, count });
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { port: Number(new URL(url).port), budget, count };
}

async function open(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

async function ask(socket: Socket): Promise<string> {
  const answered = once(socket, 'data');
  socket.write(CALL);
  return String((await answered)[0]);
}

// Shows LIMIT-14.
test('unfinished heads are ended beyond their budget, and calls on connections that are kept go on', async () => {
  const { port, budget, count } = await listen();
  // What it has sent in whole calls is more than the budget.
  const honest = await open(port, CALL);
  await once(honest, 'data');
  for (let i = 0; i < 20; i++) {
    const answered = once(honest, 'data');
    honest.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(HEAD_BYTES)}\r\n\r\n`);
    await answered;
  }
  const unfinished = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(HEAD_BYTES)}`;
  for (let i = 0; i < 20; i++) await open(port, unfinished);
  await expect.poll(() => budget.ended(), { timeout: 30_000 }).toBeGreaterThanOrEqual(10);
  await expect.poll(count, { timeout: 30_000 }).toBeLessThanOrEqual(11);
  expect(budget.used()).toBeLessThanOrEqual(MAX_BYTES);
  expect(await ask(honest)).toContain('200 OK');
});

test('few connections are not looked at, whatever they have sent', async () => {
  const { port, budget } = await listen();
  for (let i = 0; i < 3; i++) await open(port, `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(HEAD_BYTES)}`);
  expect([budget.used(), budget.ended()]).toEqual([0, 0]);
});
