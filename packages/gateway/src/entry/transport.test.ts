import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogRecorder } from '@prism-gateway/testing';
import { afterEach, describe, expect, test } from 'vitest';
import type { Gateway } from '../app.ts';
import { readBody } from '../http/body.ts';
import { createListener, prepareServer } from './transport.ts';

const MAX_BODY_BYTES = 1_000_000;
const large = 'x'.repeat(300_000);

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** @returns the port */
async function serve(fetch: Gateway['fetch'], stalledMs?: number): Promise<number> {
  const listener = createListener({ fetch }, { hostname: '127.0.0.1', logger: createLogRecorder() });
  const server = createServer(listener).listen(0, '127.0.0.1');
  prepareServer(server, stalledMs);
  await once(server, 'listening');
  stop = () => server.close();
  // A listening TCP server has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

/** Serves bodies back, each with whether it was taken without a stream. */
async function serveEcho(): Promise<number> {
  return await serve(async (request, { arrivedBody }) => {
    let wasWhole = false;
    const take = () => {
      const body = arrivedBody?.();
      wasWhole = body !== undefined;
      return body;
    };
    const body = await readBody({ request, arrivedBody: take }, MAX_BODY_BYTES);
    const text = Buffer.from(body).toString();
    return new Response(JSON.stringify({ wasWhole, text }), { headers: { connection: 'close' } });
  });
}

/** Serves a long answer to everybody, and never looks at a body. */
async function serveLongAnswer(): Promise<number> {
  return await serve(() => new Response(large, { headers: { 'content-type': 'text/plain' } }));
}

/** Sends pieces a moment apart. @returns the body of the answer, as far as it came */
async function send(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  // A server that closes before it has read everything resets the connection.
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const piece of pieces) {
    socket.write(piece);
    await sleep(20);
  }
  if (!socket.readableEnded && !socket.closed) await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  socket.destroy();
  const answer = Buffer.concat(chunks).toString();
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}

const head = (method: string, framing: string) => `${method} / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`;
const sized = (length: number, method = 'POST') => head(method, `Content-Length: ${length}`);
const chunked = head('POST', 'Transfer-Encoding: chunked');

test.each<[string, string[], { wasWhole: boolean; text: string }]>([
  ['with its head', [`${sized(5)}12345`], { wasWhole: true, text: '12345' }],
  ['with its head, of a PATCH', [`${sized(5, 'PATCH')}12345`], { wasWhole: true, text: '12345' }],
  ['with its head, in chunks', [`${chunked}2\r\n12\r\n3\r\n345\r\n0\r\n\r\n`], { wasWhole: true, text: '12345' }],
  ['as nothing', [sized(0)], { wasWhole: true, text: '' }],
  ['after its head', [sized(5), '12345'], { wasWhole: false, text: '12345' }],
  ['in two halves', [`${sized(5)}12`, '345'], { wasWhole: false, text: '12345' }],
  ['in late chunks', [`${chunked}2\r\n12\r\n`, '3\r\n345\r\n', '0\r\n\r\n'], { wasWhole: false, text: '12345' }],
  ['as more than a packet', [sized(large.length), large], { wasWhole: false, text: large }],
])('a body that comes %s is read as it was sent', async (_, pieces, expected) => {
  expect(JSON.parse(await send(await serveEcho(), pieces))).toEqual(expected);
});

test.each(['GET', 'POST', 'DELETE'])(
  'a connection that is to be closed after a %s is closed once the body has come in that nobody wanted',
  async (method) => {
    const port = await serveLongAnswer();
    const call = head(method, `Connection: close\r\nContent-Length: ${2 * large.length}`);
    expect(await send(port, [call + large, large])).toBe(large);
  },
);

test('a body that does not come is not waited for long', async () => {
  const port = await serveLongAnswer();
  const startedAt = performance.now();
  expect(await send(port, [head('GET', 'Connection: close\r\nContent-Length: 10')])).toBe(large);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

/** How long a server says nothing before it counts as silent, in milliseconds. */
const SILENCE_MS = 300;

/** Sends bytes and perhaps ends this side. @returns all that comes back until the server is silent or closes */
async function exchange(port: number, bytes: string, { end = false } = {}): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  let said = '';
  const silent = Promise.withResolvers<void>();
  const timer = setTimeout(silent.resolve, SILENCE_MS);
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    timer.refresh();
  });
  if (end) socket.end(bytes);
  else socket.write(bytes);
  await Promise.race([once(socket, 'end'), silent.promise]);
  clearTimeout(timer);
  socket.destroy();
  return said;
}

const statusesOf = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Serves the name of each call after a while, as many milliseconds as its path says, and notes when each begins and ends. */
async function serveSlowly(): Promise<{ port: number; events: string[] }> {
  const events: string[] = [];
  const port = await serve(async (request) => {
    const { pathname } = new URL(request.url);
    events.push(`${pathname} begins`);
    await sleep(Number(pathname.slice(1)));
    events.push(`${pathname} ends`);
    return new Response(pathname);
  });
  return { port, events };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const post = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${more}\r\n{}`;

test('calls sent at once on one connection are handled one after another', async () => {
  const { port, events } = await serveSlowly();
  const said = await exchange(port, post('/30') + get('/2') + post('/1') + get('/0'));
  const calls = ['/30', '/2', '/1', '/0'];
  expect(events).toEqual(calls.flatMap((call) => [`${call} begins`, `${call} ends`]));
  expect(statusesOf(said)).toEqual([200, 200, 200, 200]);
  expect(calls.map((call) => said.indexOf(`\r\n\r\n${call}`)).every((at, i, all) => at > (all[i - 1] ?? 0))).toBe(true);
});

test('a hundred calls sent at once are all answered', async () => {
  const { port } = await serveSlowly();
  expect(statusesOf(await exchange(port, get('/0').repeat(99) + get('/0', 'Connection: close\r\n')))).toHaveLength(100);
});

test.each([
  ['GET', get('/20')],
  ['POST', post('/20')],
  ['POST that closes', post('/20', 'Connection: close\r\n')],
])('a client that ends its side after a %s is answered', async (_, bytes) => {
  const { port } = await serveSlowly();
  expect(statusesOf(await exchange(port, bytes, { end: true }))).toEqual([200]);
});

test('a body that its client ends early is 400', async () => {
  const port = await serveEcho();
  const said = await exchange(port, `${sized(10)}{}`, { end: true });
  expect(statusesOf(said)).toEqual([400]);
});

test.each([
  ['garbage', 'X\r\n\r\n'],
  ['a broken head', 'GET / HTTP/1.1\r\nno colon\r\n\r\n'],
])('a whole POST before %s gets its own answer', async (_, rest) => {
  const { port, events } = await serveSlowly();
  const said = await exchange(port, post('/20') + rest);
  expect(statusesOf(said)).toEqual([200]);
  expect(said).toMatch(/^connection: close\r$/im);
  expect(events).toEqual(['/20 begins', '/20 ends']);
});

test('what follows a call that closes its connection is not read', async () => {
  const { port, events } = await serveSlowly();
  const said = await exchange(port, post('/20', 'Connection: close\r\n') + get('/0'));
  expect([statusesOf(said), events]).toEqual([[200], ['/20 begins', '/20 ends']]);
});

test('of answers that nobody reads, one of a connection waits', async () => {
  let made = 0;
  const body = 'x'.repeat(20_000_000);
  const port = await serve(() => {
    made += 1;
    return new Response(body);
  });
  const socket = connect({ port, host: '127.0.0.1' });
  socket.pause();
  socket.write(get('/').repeat(50));
  await sleep(200);
  expect(made).toBe(1);
  socket.destroy();
});

test('CONNECT is answered', async () => {
  const { port } = await serveSlowly();
  const said = await exchange(port, 'CONNECT other.example:443 HTTP/1.1\r\nHost: a\r\n\r\n');
  expect([statusesOf(said), JSON.parse(said.slice(said.indexOf('{')))]).toEqual([[405], { error: expect.any(String) }]);
});

describe('a connection that stands still', () => {
  const STALLED_MS = 100;

  test('is closed where nobody reads the answer', async () => {
    const port = await serve(() => new Response('x'.repeat(20_000_000)), STALLED_MS);
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(get('/'));
    await sleep(5 * STALLED_MS);
    socket.resume();
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(socket, 'close');
    expect(bytes).toBeLessThan(20_000_000);
  });

  test('is 408 where the rest of a body does not come', async () => {
    const port = await serve(async (request) => new Response(await request.text()), STALLED_MS);
    const said = await exchange(port, `${sized(10)}{}`);
    expect([statusesOf(said), JSON.parse(said.slice(said.indexOf('{')))]).toEqual([
      [408],
      { error: expect.any(String) },
    ]);
  });

  test('is closed without a word where nothing was ever asked', async () => {
    const port = await serve(() => new Response('ok'), STALLED_MS);
    const socket = connect({ port, host: '127.0.0.1' });
    socket.resume();
    await once(socket, 'close');
    expect(socket.bytesRead).toBe(0);
  });
});
