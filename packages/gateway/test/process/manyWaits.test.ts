import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { expect, onTestFinished, test } from 'vitest';
import { gateway as program } from '../../../../bin/programs.mjs';
import { claimOf } from '../contracts/storedRequests.ts';
import { residentBytes } from '../rigs/residentBytes.ts';
import { openStoresOf } from '../rigs/sqliteStores.ts';

const WAITS = sized({ small: 100, long: 10_000 });
/** Connections that are opened at the same time. */
const LANES = 200;
/** Bound on a wait's bytes beside those that Node's own server takes for a request that it holds. */
const MOST_BYTES = 10_000;

/** A server of Node's that holds what it is asked for, and does nothing else. */
const BARE = `
  const held = [];
  const server = require('node:http').createServer((request, response) => {
    if (request.url === '/') response.end();
    else held.push(response);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

interface Served {
  readonly port: number;
  readonly pid: number;
}

async function startBare(): Promise<Served> {
  const env = { ...process.env, ...program.env };
  const child = spawn(process.execPath, [...program.nodeFlags, '-e', BARE], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(child.stdout, 'data');
  return { port: Number(line), pid: Number(child.pid) };
}

/** Asks on a connection of its own. @returns resolves with the first bytes of the answer */
async function ask({ port }: Served, path: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const answer = once(socket, 'data').then(([bytes]) => String(bytes));
  // Whoever is still waiting at the end is cut off.
  answer.catch(() => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return { socket, answer };
}

interface Held {
  readonly sockets: readonly Socket[];
  readonly answers: readonly Promise<string>[];
  /** Bytes of the server's memory. */
  readonly bytesEach: number;
}

/** Opens many that are not answered. @returns their answers, and bytes that each has taken of the server */
async function holdMany(server: Served, path: string): Promise<Held> {
  await (await ask(server, '/')).answer;
  const before = await residentBytes(server.pid);
  const sockets: Socket[] = [];
  const answers: Promise<string>[] = [];
  for (let i = 0; i < WAITS; i += LANES) {
    const some = await Promise.all(Array.from({ length: Math.min(LANES, WAITS - i) }, () => ask(server, path)));
    for (const { socket, answer } of some) {
      sockets.push(socket);
      answers.push(answer);
    }
  }
  await (await ask(server, '/')).answer;
  return { sockets, answers, bytesEach: ((await residentBytes(server.pid)) - before) / WAITS };
}

async function post({ url }: RunningGateway): Promise<string> {
  const body = JSON.stringify(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/requests`, { method: 'POST', headers, body });
  // It is a record.
  return ((await answer.json()) as { requestId: string }).requestId;
}

test(`${WAITS} connections wait for one request, cost little, and are all told when another process moves it`, async () => {
  const gateway = await startGateway({
    nodeFlags: program.nodeFlags,
    env: {
      ...program.env,
      MAX_CONNECTIONS: '0',
      MAX_CONNECTIONS_PER_PEER: '0',
      MAX_WAITS: '0',
      MAX_WAITS_PER_CLIENT: '0',
    },
  });
  onTestFinished(() => void gateway.stop());
  const requestId = await post(gateway);
  const server = { port: Number(new URL(gateway.url).port), pid: Number(gateway.process.pid) };
  const waits = await holdMany(server, `/requests/${requestId}?status=pending&wait=25`);

  const tables = {
    requests: 'service-requests-dev',
    relayers: 'service-relayers-dev',
    rateLimits: 'service-ratelimit-dev',
  };
  const other = openStoresOf(join(gateway.dataDir, 'gateway-dev.db'), tables);
  await other.requests.claim(claimOf({ requestId }, { now: Date.now() }));
  await other.close();
  const reported = await Promise.all(waits.answers);
  expect(reported.filter((answer) => !answer.includes('"status":"processing"'))).toEqual([]);

  for (const socket of waits.sockets) socket.destroy();

  // Few connections are lost in what a heap grows by.
  if (!isLong) return;
  const bare = await holdMany(await startBare(), '/held');
  console.log(`a wait: ${Math.round(waits.bytesEach)} bytes; a request that Node holds: ${Math.round(bare.bytesEach)}`);
  expect(waits.bytesEach - bare.bytesEach).toBeLessThanOrEqual(MOST_BYTES);
});
