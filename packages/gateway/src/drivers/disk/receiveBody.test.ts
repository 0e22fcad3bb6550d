import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { collectGarbage } from '@prism-gateway/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SignedOperation } from '../../ports/objectSigner.ts';
import { openBody } from './receiveBody.ts';
import { type DiskRig, newPath, send, startDiskObjects } from './startDiskObjects.rig.ts';

const MAX = 1_000_000;
const content = Buffer.alloc(MAX, 'x');

let rig: DiskRig;
beforeAll(async () => {
  rig = await startDiskObjects({ maxObjectBytes: MAX });
});
afterAll(() => rig.close());

/** Sends the head of a put and part of its body, by hand. */
async function beginPut({ url, headers }: SignedOperation, head: string, part: Uint8Array): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  // A server that is killed resets the connection; what matters is what it left.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lines.join('')}${head}\r\n\r\n`);
  socket.write(part);
  return socket;
}

/** The status line of what the server says before it hangs up. */
async function readStatus(socket: Socket): Promise<string | undefined> {
  return (await text(socket)).split('\r\n')[0];
}

test('an object of the largest size is stored', async () => {
  const path = newPath(content);
  expect((await rig.put(path, content)).status).toBe(200);
  const got = await rig.get(path);
  expect(Buffer.from(await got.arrayBuffer())).toEqual(content);
});

test('a declared length above the limit is refused before the body comes', async () => {
  const order = await rig.sign('put', newPath(content));
  const socket = await beginPut(order, `Content-Length: ${MAX + 1}\r\nConnection: close`, Buffer.alloc(0));
  expect(await readStatus(socket)).toBe('HTTP/1.1 413 Payload Too Large');
  expect(await rig.listTemp()).toEqual([]);
});

test('a chunked body is refused when it passes the limit, and leaves nothing', async () => {
  const path = newPath(content);
  const chunks = async function* () {
    for (let sent = 0; sent <= MAX; sent += 100_000) yield Buffer.alloc(100_000);
  };
  const refused = await send(await rig.sign('put', path), { body: ReadableStream.from(chunks()) });
  expect(refused.status).toBe(413);
  expect(await refused.json()).toEqual({ error: expect.stringMatching(/larger/), code: 'OBJECT_TOO_LARGE' });
  expect((await rig.get(path)).status).toBe(404);
  expect(await rig.listTemp()).toEqual([]);
});

test('a chunked body within the limit is stored', async () => {
  const path = newPath(content);
  const chunks = async function* () {
    for (let at = 0; at < MAX; at += 50_000) yield content.subarray(at, at + 50_000);
  };
  const order = await rig.sign('put', path, path.slice(-64));
  expect((await send(order, { body: ReadableStream.from(chunks()) })).status).toBe(200);
});

test.each([
  ['of declared length', `Content-Length: ${MAX}`, content.subarray(0, MAX / 2)],
  ['in chunks', 'Transfer-Encoding: chunked', Buffer.from('5\r\nhello\r\n')],
])('an upload %s that is broken off leaves nothing', async (_, head, part) => {
  const path = newPath(content);
  const ended = () => rig.logger.lines.filter(({ message }) => /ended before its end/.test(message)).length;
  const before = ended();
  const socket = await beginPut(await rig.sign('put', path), head, part);
  await vi.waitFor(async () => expect(await rig.listTemp()).toHaveLength(1));
  socket.destroy();
  await vi.waitFor(() => expect(ended()).toBe(before + 1));
  expect(await rig.listTemp()).toEqual([]);
  expect((await rig.get(path)).status).toBe(404);
});

test('a body that is shorter than it said is no body, even where the connection ended well', async () => {
  const headers = { 'content-length': '5' };
  const body = openBody(new Request('http://objects.test', { method: 'PUT', body: 'four', headers }), {
    maxBytes: MAX,
  });
  expect((await body.read().next()).done).toBe(false);
  await expect(body.read().next()).rejects.toMatchObject({ code: 'OBJECT_UPLOAD_INCOMPLETE' });
});

test('a client that sends an object again gets its answer once it has sent it, not a broken connection', async () => {
  const path = newPath(content);
  expect((await rig.put(path, content)).status).toBe(200);
  const order = await rig.sign('put', path, path.slice(-64));
  const socket = await beginPut(order, `Content-Length: ${MAX}\r\nConnection: close`, content.subarray(0, MAX / 2));
  const status = readStatus(socket);
  // Other calls come and go in the meantime.
  for (let round = 0; round < 5; round += 1) expect((await rig.put(path, content)).status).toBe(412);
  expect(socket.bytesRead).toBe(0);
  socket.write(content.subarray(MAX / 2));
  expect(await status).toBe('HTTP/1.1 412 Precondition Failed');
});

test('a failing disk is a passing fault: 503, and what it was goes to the log', async () => {
  const path = newPath(content);
  const [temp, aside] = [join(rig.directory, 'tmp'), join(rig.directory, 'aside')];
  await rename(temp, aside);
  await writeFile(temp, 'not a directory');
  const failed = await rig.put(path, content);
  await rm(temp);
  await rename(aside, temp);

  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(await failed.json()).toEqual({
    error: 'The object store did not answer; try again later.',
    code: 'DEPENDENCY_UNAVAILABLE',
  });
  expect(rig.logger.lines).toContainEqual({
    level: 'error',
    fields: { code: 'ENOTDIR', syscall: 'open' },
    message: 'the local object store failed',
  });
  expect((await rig.put(path, content)).status).toBe(200);
});

test('a process killed in the middle leaves no object, and the next one clears up', async () => {
  const child = startProcess(rig.directory);
  const [line] = await once(child.stdout ?? child, 'data');
  const path = newPath(content);
  const order = await rig.sign('put', path, path.slice(-64));
  const url = order.url.replace(rig.url, String(line).trim());
  const socket = await beginPut({ ...order, url }, `Content-Length: ${MAX}`, content.subarray(0, MAX / 2));
  await vi.waitFor(async () => expect(await rig.listTemp()).toHaveLength(1));
  child.kill('SIGKILL');
  await once(child, 'exit');
  socket.destroy();

  expect(await rig.listTemp()).toHaveLength(1);
  expect((await rig.get(path)).status).toBe(404);
  const next = await startDiskObjects({ directory: rig.directory });
  expect(await rig.listTemp()).toEqual([]);
  expect((await next.put(path, content)).status).toBe(200);
  await next.close();
});

function startProcess(directory: string): ChildProcess {
  const fixture = fileURLToPath(new URL('./serveDiskObjects.fixture.ts', import.meta.url));
  return spawn(process.execPath, [fixture, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
}

// Shows OBJECT-13.
test('a body that comes more slowly than the least pace is given up, also by who would only drop the rest', async () => {
  const stalled = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(Buffer.from('some')) });
  const request = new Request('http://objects.test', { method: 'PUT', body: stalled, duplex: 'half' });
  const body = openBody(request, { maxBytes: MAX, pace: { windowMs: 20, windowBytes: 1000 } });
  const readAll = async () => {
    for await (const _ of body.read());
  };
  const tooSlow = expect.objectContaining({ code: 'OBJECT_TOO_SLOW' });
  await expect(readAll()).rejects.toEqual(tooSlow);
  await expect(readAll()).rejects.toEqual(tooSlow);
});

// Shows OBJECT-13.
test('what was read of a body is not kept in memory until its end', async () => {
  const pieces: WeakRef<Uint8Array>[] = [];
  const stream = new ReadableStream<Uint8Array>({
    pull(to) {
      const piece = new Uint8Array(1000);
      pieces.push(new WeakRef(piece));
      to.enqueue(piece);
    },
  });
  const request = new Request('http://objects.test', { method: 'PUT', body: stream, duplex: 'half' });
  const reading = openBody(request, { maxBytes: MAX }).read();
  for (let read = 0; read < 100; read += 1) await reading.next();
  await setImmediate();
  collectGarbage();
  expect(pieces.filter((piece) => piece.deref() !== undefined).length).toBeLessThan(10);
  await reading.return(undefined);
});
