import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogRecorder } from '@prism-gateway/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Gateway } from '../app.ts';
import { createByteBudget } from '../http/createByteBudget.ts';
import type { ApiError } from '../http/errors.ts';
import type { TransportRequest } from '../http/request.ts';
import type { WrittenResponse } from '../http/response.ts';
import type { Mount } from '../ports/gatewayPorts.ts';
import { createListener } from './createListener.ts';
import { prepareServer } from './transport.ts';

const MAX_BODY_BYTES = 1_000_000;
const large = 'x'.repeat(300_000);

let stop: (() => void) | undefined;
afterEach(() => {
  vi.useRealTimers();
  stop?.();
});

const textAnswer = (body: string): WrittenResponse => ({ status: 200, body, headers: ['content-type', 'text/plain'] });

interface Served {
  readonly stalledMs?: number;
  /** Below `/mounted/`. */
  readonly mounted?: Mount['fetch'];
  /** Of all bodies under way. */
  readonly bodyBytes?: number;
  /** Of all answers that wait to be read. */
  readonly answerBytes?: number;
}

const refuse = () => Promise.reject(new Error('nobody calls it'));

async function listen(
  answer: Gateway['answer'],
  { stalledMs, mounted = refuse, bodyBytes = 1e9, answerBytes = 1e9 }: Served = {},
): Promise<Server> {
  const mount = { prefix: '/mounted/', fetch: mounted, withApiHeaders: false };
  const findMount = (path: string) => (path.startsWith(mount.prefix) ? mount : undefined);
  const [bodies, answers, calls] = [bodyBytes, answerBytes, 1e9].map((maxBytes) =>
    createByteBudget({ maxBytes, now: Date.now }),
  );
  if (bodies === undefined || answers === undefined || calls === undefined) throw new Error('Three are made of three.');
  const context = { trustedProxyHops: 0, hostname: '127.0.0.1', logger: createLogRecorder(), bodies, answers, calls };
  const server = createServer(createListener({ answer, findMount, fetch: mounted }, context)).listen(0, '127.0.0.1');
  prepareServer(server, stalledMs);
  await once(server, 'listening');
  stop = () => server.close();
  return server;
}

/** @returns the port */
async function serve(answer: Gateway['answer'], served?: Served): Promise<number> {
  const server = await listen(answer, served);
  // A listening TCP server has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

/** Serves bodies back, each with whether it was taken without a stream, and tells when it has looked for the first one. */
async function serveEcho(): Promise<{ port: number; looked: Promise<void> }> {
  const looked = Promise.withResolvers<void>();
  const port = await serve(async (request) => {
    const reading = request.readBody(MAX_BODY_BYTES);
    looked.resolve();
    const text = Buffer.from(await reading).toString();
    const body = JSON.stringify({ wasWhole: !(reading instanceof Promise), text });
    return { status: 200, body, headers: ['connection', 'close'] };
  });
  return { port, looked: looked.promise };
}

/** Serves a long answer to everybody, and never looks at a body; tells when it was called. */
async function serveLongAnswer(): Promise<{ port: number; looked: Promise<void> }> {
  const looked = Promise.withResolvers<void>();
  const port = await serve(() => {
    looked.resolve();
    return textAnswer(large);
  });
  return { port, looked: looked.promise };
}

/** Sends a piece, and the rest piece by piece once the server has looked at the call. */
async function send({ port, looked }: { port: number; looked: Promise<void> }, pieces: readonly string[]) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  // A server that closes before it has read everything resets the connection.
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  for (const piece of pieces) {
    await new Promise<unknown>((resolve) => socket.write(piece, resolve));
    await looked;
  }
  await over;
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
    // The body is waited for by a clock that stands still, however late this process gets its turn.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await serveLongAnswer();
    const call = head(method, `Connection: close\r\nContent-Length: ${2 * large.length}`);
    expect(await send(server, [call + large, large])).toBe(large);
  },
);

test('a body that does not come is not waited for', async () => {
  const server = await serveLongAnswer();
  expect(await send(server, [head('GET', 'Connection: close\r\nContent-Length: 10')])).toBe(large);
});

/** Sends bytes and perhaps ends this side. @returns all that comes back until the server ends the connection */
async function exchange(port: number, bytes: string, { end = false } = {}): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  let said = '';
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const over = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  if (end) socket.end(bytes);
  else socket.write(bytes);
  await over;
  socket.destroy();
  return said;
}

const statusesOf = (said: string) => [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

/** Serves the name of each call after a while, as many milliseconds as its path says, and notes when each begins and ends. */
async function serveSlowly(): Promise<{ port: number; events: string[] }> {
  const events: string[] = [];
  const port = await serve(async ({ path }) => {
    events.push(`${path} begins`);
    await sleep(Number(path.slice(1)));
    events.push(`${path} ends`);
    return textAnswer(path);
  });
  return { port, events };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const post = (path: string, more = '') => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${more}\r\n{}`;

// Shows HTTP-3.
test('calls sent at once on one connection are handled one after another', async () => {
  const { port, events } = await serveSlowly();
  const said = await exchange(port, post('/30') + get('/2') + post('/1') + get('/0', 'Connection: close\r\n'));
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

// Shows HTTP-2.
test('a body that its client ends early is 400', async () => {
  const { port } = await serveEcho();
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
  const body = 'x'.repeat(1_000_000);
  let bytes = 0;
  const readBefore: number[] = [];
  const server = await listen(() => {
    readBefore.push(bytes);
    return textAnswer(body);
  });
  // A connection without a kernel's buffers, which are of any size.
  const [client, connection] = duplexPair();
  server.emit('connection', connection);
  client.write(get('/').repeat(4) + get('/', 'Connection: close\r\n'));
  for await (const chunk of client) bytes += chunk.length;
  // Of an answer that the client is about to take, nothing waits any more.
  const answersRead = readBefore.map((before) => Math.floor(before / body.length));
  expect(answersRead).toHaveLength(5);
  for (const [call, read] of answersRead.entries()) expect(read).toBeGreaterThanOrEqual(call - 1);
});

/** Sends bytes and reads nothing. */
function sendOnly(port: number, bytes: string) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(bytes);
  return socket;
}

// Shows LIMIT-14.
test('of bodies that are too much together, the one that has held most for longest is refused with Retry-After', async () => {
  const read = async (request: TransportRequest) => {
    try {
      return textAnswer(String(await request.readBody(MAX_BODY_BYTES)));
    } catch (error) {
      const { status, headers = {} } = error as ApiError;
      return { status, body: 'refused', headers: Object.entries(headers).flat() };
    }
  };
  const port = await serve(read, { bodyBytes: 100_000 });
  const refused = exchange(port, `${sized(90_000)}${'x'.repeat(60_000)}`);
  const others = Array.from({ length: 5 }, () => sendOnly(port, `${sized(90_000)}${'x'.repeat(50_000)}`));
  const said = await refused;
  expect([statusesOf(said), /^retry-after: \d+\r$/im.test(said)]).toEqual([[503], true]);
  expect(statusesOf(await exchange(port, post('/', 'Connection: close\r\n')))).toEqual([200]);
  for (const socket of others) socket.destroy();
});

// Shows LIMIT-14.
test('of answers that nobody reads, those that are too much together are ended', async () => {
  const body = 'x'.repeat(1_000_000);
  const server = await listen(() => textAnswer(body), { answerBytes: 2_500_000 });
  // Connections without a kernel's buffers, which are of any size.
  const pairs = Array.from({ length: 3 }, () => duplexPair());
  const closed = pairs.map(([client, connection]) => {
    server.emit('connection', connection);
    client.write(get('/'));
    return once(connection, 'close');
  });
  // Which one goes is not told: they came within a moment.
  await Promise.any(closed);
  expect(pairs.filter(([, connection]) => !connection.destroyed)).toHaveLength(2);
  for (const [client] of pairs) client.destroy();
});

test('CONNECT is answered', async () => {
  const { port } = await serveSlowly();
  const said = await exchange(port, 'CONNECT other.example:443 HTTP/1.1\r\nHost: a\r\n\r\n');
  expect([statusesOf(said), JSON.parse(said.slice(said.indexOf('{')))]).toEqual([
    [405],
    { error: expect.any(String), code: 'METHOD_NOT_ALLOWED' },
  ]);
});

describe('a connection that stands still', () => {
  const STALLED_MS = 100;

  test('is closed if nobody reads the answer', async () => {
    const closed = Promise.withResolvers<void>();
    const piece = new Uint8Array(65_536);
    const endless = { pull: (to: ReadableStreamDefaultController) => to.enqueue(piece), cancel: closed.resolve };
    const mounted = async () => new Response(new ReadableStream(endless));
    // Long enough for the request to come in on a loaded machine.
    const port = await serve(refuse, { mounted, stalledMs: 10 * STALLED_MS });
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(get('/mounted/'));
    await closed.promise;
    const over = once(socket, 'close');
    socket.resume();
    await over;
    expect(socket.bytesRead).toBeGreaterThan(0);
  });

  // Shows HTTP-5.
  test('is 408 where the rest of a body does not come', async () => {
    const echo = async (request: TransportRequest) => textAnswer(String(await request.readBody(10)));
    // Long enough for its beginning to come in on a loaded machine.
    const port = await serve(echo, { stalledMs: 10 * STALLED_MS });
    const said = await exchange(port, `${sized(10)}{}`);
    expect([statusesOf(said), JSON.parse(said.slice(said.indexOf('{')))]).toEqual([
      [408],
      { error: expect.any(String), code: 'REQUEST_TOO_SLOW' },
    ]);
  });

  // Shows HTTP-6.
  test('an upload is not held to the time of other requests: its receiver watches it', async () => {
    const mounted = async (request: Request) => new Response(await request.text());
    const server = await listen(refuse, { mounted });
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    const sockets: Socket[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    // A listening TCP server has an AddressInfo.
    const { port } = server.address() as AddressInfo;
    const begun = once(server, 'request');
    const upload = exchange(
      port,
      `${head('PUT', 'Connection: close\r\nContent-Length: 5').replace('/', '/mounted/')}12`,
    );
    await begun;
    const [socket] = sockets;
    server.emit('clientError', late, socket);
    expect(socket?.destroyed).toBe(false);
    stop = () => {
      socket?.destroy();
      server.close();
    };
    void upload;
  });

  // Shows HTTP-5.
  test('is closed without a word where nothing was ever asked', async () => {
    const port = await serve(() => textAnswer('ok'), { stalledMs: STALLED_MS });
    const socket = connect({ port, host: '127.0.0.1' });
    socket.resume();
    await once(socket, 'close');
    expect(socket.bytesRead).toBe(0);
  });
});
