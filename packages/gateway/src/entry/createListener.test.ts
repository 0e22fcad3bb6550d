import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { createLogRecorder } from '@prism-gateway/testing';
import { expect, test } from 'vitest';
import { type ByteBudget, createByteBudget } from '../http/createByteBudget.ts';
import type { TransportRequest } from '../http/request.ts';
import { createEndOfTurn, createListener } from './createListener.ts';

test('what comes in one turn is done together, in order, after the turn', async () => {
  const atEndOfTurn = createEndOfTurn();
  const seen: string[] = [];
  for (const name of ['one', 'two']) {
    seen.push(`${name} made`);
    atEndOfTurn(() => seen.push(name));
  }
  await Promise.resolve();
  expect(seen).toEqual(['one made', 'two made']);
  await new Promise(setImmediate);
  expect(seen).toEqual(['one made', 'two made', 'one', 'two']);
});

test('what is handed over while others are done is done in a turn of its own', async () => {
  const atEndOfTurn = createEndOfTurn();
  const seen: string[] = [];
  atEndOfTurn(() => atEndOfTurn(() => seen.push('later')));
  await new Promise(setImmediate);
  expect(seen).toEqual([]);
  await new Promise(setImmediate);
  expect(seen).toEqual(['later']);
});

/** A client that speaks to the listener without a kernel between them: its buffers and packets have any size. */
interface Line {
  readonly client: Duplex;
  /** The server's end. */
  readonly socket: Duplex;
  /** Requests that have come in. */
  readonly requests: readonly IncomingMessage[];
  /** Reads until there is nothing more to read. */
  readonly readAll: () => Promise<string>;
}

/** Serves calls: a GET waits for ever, and the body of a POST comes back. */
function openLine({ callBytes = 1e9, bodyBytes = 1e9 } = {}): () => Line {
  const fetch = () => Promise.reject(new Error('nobody calls it'));
  async function answer(request: TransportRequest) {
    if (request.method === 'GET') return await new Promise<never>(() => undefined);
    const body = Buffer.from(await request.readBody(1e6)).toString();
    return { status: 200, body, headers: ['connection', 'close'] };
  }
  const [bodies, calls, answers] = [bodyBytes, callBytes, 1e9].map((maxBytes) =>
    createByteBudget({ maxBytes, now: () => 0 }),
  ) as [ByteBudget, ByteBudget, ByteBudget]; // Three are made of three.
  const context = { trustedProxyHops: 0, hostname: '127.0.0.1', logger: createLogRecorder(), bodies, calls, answers };
  const server = createServer(createListener({ answer, findMount: () => undefined, fetch }, context));
  return function connectLine() {
    const [client, socket] = duplexPair();
    const requests: IncomingMessage[] = [];
    server.prependListener('request', (incoming) => {
      if (incoming.socket === socket) requests.push(incoming);
    });
    client.on('error', () => undefined);
    server.emit('connection', socket);
    const readAll = async () => Buffer.concat(await client.toArray().catch(() => [])).toString();
    return { client, socket, requests, readAll };
  };
}

const get = (more = '') => `GET / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const chunked = 'Transfer-Encoding: chunked\r\n';
const post = (more = '') => `POST / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const chunksOf = (bytes: number, count: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count);

// Shows LIMIT-18.
test.each([
  ['that is read', post(chunked)],
  ['that nobody reads', get(chunked)],
])('a body %s in thousands of chunks of a byte is 413, and its connection is ended', async (_, head) => {
  const { client, socket, readAll } = openLine()();
  client.write(head + chunksOf(1, 5000));
  expect(await readAll()).toMatch(/^HTTP\/1\.1 413 .*pieces/s);
  await expect.poll(() => socket.destroyed).toBe(true);
});

test.each([
  ['few chunks of a byte', chunksOf(1, 500)],
  ['thousands of short chunks', chunksOf(17, 10_000)],
])('a body in %s is read as it was sent', async (_, chunks) => {
  const { client, readAll } = openLine()();
  client.write(`${post(chunked)}${chunks}0\r\n\r\n`);
  expect((await readAll()).split('\r\n\r\n')[1]).toBe(chunks.replaceAll(/\w+\r\n(x+)\r\n/g, '$1'));
});

// Shows LIMIT-18.
test('a call with more than a hundred header fields is 431', async () => {
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: 1\r\n`).join('');
  const connectLine = openLine();
  const [most, more] = [connectLine(), connectLine()];
  // Beside Host and two of the body's.
  most.client.write(`${post(`${fields(97)}Content-Length: 2\r\nConnection: close\r\n`)}{}`);
  expect(await most.readAll()).toMatch(/^HTTP\/1\.1 200 /);
  more.client.write(`${post(`${fields(98)}Content-Length: 2\r\nConnection: close\r\n`)}{}`);
  expect(await more.readAll()).toMatch(/^HTTP\/1\.1 431 /);
});

// Shows LIMIT-14.
test.each([
  ['is announced', `Content-Length: 60000\r\n`, 'x'.repeat(60_000)],
  ['comes in chunks', chunked, chunksOf(6000, 10)],
])('a call that waits keeps nothing of a body that %s', async (_, field, body) => {
  const { client, requests } = openLine()();
  client.write(get(field) + body);
  await expect.poll(() => requests.map(({ readableLength }) => readableLength)).toEqual([0]);
  client.destroy();
});

// Shows LIMIT-14.
test('of calls that wait for one that waits, those that are too much together are ended with their connections', async () => {
  const connectLine = openLine({ callBytes: 1_000_000 });
  const lines = Array.from({ length: 5 }, () => connectLine());
  const closed = lines.map(({ socket }) => once(socket, 'close'));
  for (const { client } of lines) client.write(get().repeat(100));
  await Promise.any(closed);
  expect(lines.some(({ socket }) => !socket.destroyed)).toBe(true);
  for (const { client } of lines) client.destroy();
});

// Shows LIMIT-18.
test('a connection that sends thousands of calls before it has an answer is ended', async () => {
  const { client, socket } = openLine()();
  const closed = once(socket, 'close');
  client.write(get().repeat(2000));
  await closed;
  expect(socket.destroyed).toBe(true);
});

// Shows LIMIT-14.
test('of calls that wait, the longest heads are ended if they are too much together', async () => {
  const connectLine = openLine({ callBytes: 30_000 });
  const [short, ...long] = Array.from({ length: 4 }, () => connectLine());
  const closed = long.map(({ socket }) => once(socket, 'close'));
  short?.client.write(get());
  for (const { client } of long) client.write(get(`x-long: ${'x'.repeat(12_000)}\r\n`));
  await Promise.any(closed);
  expect(short?.socket.destroyed).toBe(false);
  for (const { client } of [...long, ...(short ? [short] : [])]) client.destroy();
});
