import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createReplayLanes } from './createReplayLanes.ts';
import { runLanes } from './runLanes.ts';
import { writeHttp } from './writeHttp.ts';

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

function run(port: number, requests: readonly Buffer[]) {
  const bodies: string[] = [];
  const lanes = createReplayLanes({ requests, connections: 4, onBody: (body) => bodies.push(body.toString()) });
  const result = runLanes({
    port,
    lanes,
    keepBody: true,
    expects: (status) => status === 200,
    maxAnswers: requests.length,
  });
  return { result, bodies };
}

const calls = Array.from({ length: 100 }, (_, i) => writeHttp({ method: 'POST', target: '/echo', body: `{"n":${i}}` }));

test('sends every call once and counts every answer', async () => {
  const port = await listen((incoming, outgoing) => incoming.pipe(outgoing));
  const { result, bodies } = run(port, calls);
  const seen = await result;
  expect(seen).toMatchObject({ done: 100, statuses: { 200: 100 } });
  expect(seen.latencyMs.p50).toBeGreaterThan(0);
  expect(seen.perSecond).toBeCloseTo((100 / seen.elapsedMs) * 1000);
  expect(bodies.toSorted()).toEqual(Array.from({ length: 100 }, (_, i) => `{"n":${i}}`).toSorted());
});

test('fails on an answer that was not expected, and says what it was', async () => {
  let count = 0;
  const port = await listen((_, outgoing) => {
    count += 1;
    outgoing.writeHead(count === 50 ? 429 : 200).end('slow down');
  });
  await expect(run(port, calls).result).rejects.toThrow('status 429 was not expected. slow down');
});

test('fails when the server hangs up', async () => {
  const port = await listen((incoming) => incoming.socket.destroy());
  await expect(run(port, calls).result).rejects.toThrow(/closed a connection|ECONNRESET/);
});
