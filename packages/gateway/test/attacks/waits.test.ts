import { connect, type Socket } from 'node:net';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { afterEach, expect, test } from 'vitest';
import * as programs from '../../../../bin/programs.mjs';
import { parseSettings } from '../../src/entry/settings.ts';
import { residentBytes } from '../rigs/residentBytes.ts';

/** The heap of the Kubernetes file's 768 MiB, in megabytes. */
const HEAP_MB = 384;
const MOST_BYTES = 600 * 1024 * 1024;
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
const WAITS_OF_EACH = sized({ small: 20, long: 1000 });
const WAITS_OF_CLIENT = 1000;
const PARAMS_BYTES = 240_000;
const TIMEOUT_MS = 60_000;

let gateway: RunningGateway;
const sockets = new Set<Socket>();
let isClaimed = false;
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  isClaimed = false;
  await gateway?.kill();
});

async function start(more: Readonly<Record<string, string>>): Promise<void> {
  const { env, nodeFlags } = programs.gateway;
  gateway = await startGateway({
    env: { ...env, ...more },
    nodeFlags: [...nodeFlags, `--max-old-space-size=${HEAP_MB}`],
  });
}

/** Sends JSON until the store has answered in time, which it may not beside other work. @returns the answer's text */
async function send(method: string, path: string, body: string, more = {}): Promise<string> {
  const headers = { 'content-type': 'application/json', ...more };
  for (;;) {
    const answer = await fetch(`${gateway.url}${path}`, { method, headers, body });
    const text = await answer.text();
    if (answer.status === 503) continue;
    expect([path, answer.ok, text]).toEqual([path, true, text]);
    return text;
  }
}

/** @param digits - hex digits of its payload @returns its id */
async function post(digits: number): Promise<string> {
  const { params, ...rest } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
  const payload = `0x${'5a'.repeat(digits / 2)}`;
  return JSON.parse(await send('POST', '/requests', JSON.stringify({ ...rest, params: { ...params, payload } })))
    .requestId;
}

/** Claims it as the development relayer, so that all who wait for it wake up at once. */
async function claim(requestId: string): Promise<void> {
  const call = { method: 'PATCH', path: `/requests/${requestId}`, body: '{"status":"processing"}' };
  const { headers } = JSON.parse(await send('POST', '/dev/relayer/sign', JSON.stringify(call)));
  const relayer = JSON.stringify({ address: headers['x-relayer-address'] });
  await send('POST', '/admin/relayers', relayer, { 'x-admin-key': gateway.adminKey });
  await send(call.method, call.path, call.body, headers);
}

/** Opens a wait on a connection of its own, and another when it ends before the claim. @param forwardedFor - as a proxy names its client */
function wait(path: string, localAddress: string, forwardedFor?: string): Promise<void> {
  const { port } = new URL(gateway.url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
  sockets.add(socket);
  socket.on('error', reject);
  const header = forwardedFor === undefined ? '' : `X-Forwarded-For: ${forwardedFor}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`, () => resolve());
  // On a busy machine the first has waited for 25 s before the last is open, or the store does not answer in time.
  socket.on('data', () => {
    if (isClaimed) return;
    socket.destroy();
    sockets.delete(socket);
    void wait(path, localAddress, forwardedFor);
  });
  return promise;
}

const readBudget = async (name: string, part: 'used' | 'ended') => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^prism_budget_${part}\\{budget="${name}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
};

// Shows LIMIT-19.
test.each([
  ['read their answers', {}, true],
  ['do not read them', {}, false],
  [
    'come through a proxy',
    { TRUSTED_PROXY_HOPS: '1', ALLOW_DEV_IN_PUBLIC: 'true', MAX_WAITS_PER_CLIENT: '0', MAX_CONNECTIONS_PER_PEER: '0' },
    true,
  ],
] as const)('waits for a large record that end at once and %s leave the gateway alive', async (_, more, reads) => {
  await start(more);
  const requestId = await post(PARAMS_BYTES);
  const path = `/requests/${requestId}?status=pending&wait=25`;
  let bytes = 0;
  for (let n = 0; n < WAITS_OF_EACH; n += 50) {
    const some = ADDRESSES.flatMap((address) =>
      Array.from({ length: Math.min(50, WAITS_OF_EACH - n) }, () =>
        wait(path, address, 'TRUSTED_PROXY_HOPS' in more ? address : undefined),
      ),
    );
    await Promise.all(some);
  }
  await expect.poll(() => readBudget('waits', 'used'), { timeout: TIMEOUT_MS }).toBe(ADDRESSES.length * WAITS_OF_EACH);
  isClaimed = true;
  for (const socket of sockets) {
    if (reads) socket.on('data', (chunk) => (bytes += chunk.length));
    else socket.pause();
  }
  await claim(requestId);
  let peak = 0;
  await expect
    .poll(
      async () => {
        peak = Math.max(peak, await residentBytes(Number(gateway.process.pid)));
        return await readBudget('waits', 'used');
      },
      { timeout: TIMEOUT_MS, interval: 20 },
    )
    .toBe(0);
  expect(peak).toBeLessThan(MOST_BYTES);
  expect((await fetch(`${gateway.url}/requests/${requestId}`)).status).toBe(200);
  if (isLong) console.log({ peakMB: Math.round(peak / 1e6), readMB: Math.round(bytes / 1e6) });
});

// Shows LIMIT-19.
test('a client has so many waits and no more, also behind a proxy: one more is told to come again', async () => {
  const MOST = 100;
  expect(parseSettings({}).MAX_WAITS_PER_CLIENT).toBe(WAITS_OF_CLIENT);
  await start({ TRUSTED_PROXY_HOPS: '1', ALLOW_DEV_IN_PUBLIC: 'true', MAX_WAITS_PER_CLIENT: String(MOST) });
  const requestId = await post(2);
  const path = `/requests/${requestId}?status=pending&wait=25`;
  for (let n = 0; n < MOST; n += 100)
    await Promise.all(Array.from({ length: 100 }, () => wait(path, '127.0.0.1', '203.0.113.7')));
  await expect.poll(() => readBudget('waits', 'used'), { timeout: TIMEOUT_MS }).toBe(MOST);
  const ask = (client: string, query: string) =>
    fetch(`${gateway.url}/requests/${requestId}${query}`, { headers: { 'x-forwarded-for': client } });
  const refused = await ask('203.0.113.7', '?status=pending&wait=1');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  expect(await refused.json()).toMatchObject({ error: expect.stringMatching(/^Too many calls wait/) });
  expect((await ask('203.0.113.7', '')).status).toBe(200);
  expect((await ask('203.0.113.8', '?status=pending&wait=1')).status).toBe(200);
  expect(await readBudget('waits', 'ended')).toBe(1);
});
