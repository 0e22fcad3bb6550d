import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogRecorder } from '@prism-gateway/testing';
import { afterEach, expect, test } from 'vitest';
import type { Gateway } from '../app.ts';
import { readBody } from '../http/body.ts';
import { createListener } from './transport.ts';

const MAX_BODY_BYTES = 1_000_000;
const large = 'x'.repeat(300_000);

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** @returns the port */
async function serve(fetch: Gateway['fetch']): Promise<number> {
  const listener = createListener({ fetch }, { hostname: '127.0.0.1', logger: createLogRecorder() });
  const server = createServer(listener).listen(0, '127.0.0.1');
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
