import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogRecorder } from '@prism-gateway/testing';
import { afterEach, expect, test } from 'vitest';
import { readBody } from '../http/body.ts';
import { createListener } from './transport.ts';

const MAX_BODY_BYTES = 1_000_000;

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Serves bodies back, each with whether it was taken without a stream. */
async function serveEcho(): Promise<number> {
  const listener = createListener(
    {
      async fetch(request, { arrivedBody }) {
        let wasWhole = false;
        const take = () => {
          const body = arrivedBody?.();
          wasWhole = body !== undefined;
          return body;
        };
        const body = await readBody({ request, arrivedBody: take }, MAX_BODY_BYTES);
        const text = Buffer.from(body).toString();
        return new Response(JSON.stringify({ wasWhole, text }), { headers: { connection: 'close' } });
      },
    },
    { hostname: '127.0.0.1', logger: createLogRecorder() },
  );
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => server.close();
  // A listening TCP server has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

/** Sends pieces a moment apart. @returns what the echo says */
async function send(pieces: readonly string[]): Promise<unknown> {
  const socket = connect({ port: await serveEcho(), host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const piece of pieces) {
    socket.write(piece);
    await sleep(20);
  }
  if (!socket.closed) await once(socket, 'close');
  const answer = Buffer.concat(chunks).toString();
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
}

const head = (method: string, framing: string) => `${method} / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`;
const sized = (length: number, method = 'POST') => head(method, `Content-Length: ${length}`);
const chunked = head('POST', 'Transfer-Encoding: chunked');
const large = 'x'.repeat(300_000);

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
  expect(await send(pieces)).toEqual(expected);
});
