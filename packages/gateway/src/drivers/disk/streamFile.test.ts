import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { streamFile } from './streamFile.ts';

const SIZE = 200_000;
const whole = { start: 0, end: SIZE };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stream-file-'));
  await writeFile(join(directory, 'file'), Buffer.alloc(SIZE, 'x'));
});
afterAll(() => rm(directory, { recursive: true }));

const openFile = () => open(join(directory, 'file'), 'r');
/** A closed handle has no descriptor. */
const CLOSED = -1;

test('reads the range, and closes the file at its end', async () => {
  const handle = await openFile();
  const stream = streamFile(handle, { range: { start: 10, end: SIZE - 10 }, signal: new AbortController().signal });
  expect((await new Response(stream).bytes()).length).toBe(SIZE - 20);
  expect(handle.fd).toBe(CLOSED);
});

test('closes the file when its reader cancels', async () => {
  const handle = await openFile();
  await streamFile(handle, { range: whole, signal: new AbortController().signal }).cancel();
  expect(handle.fd).toBe(CLOSED);
});

test('closes the file when the request is aborted, even if nobody ever reads', async () => {
  const handle = await openFile();
  const abort = new AbortController();
  streamFile(handle, { range: whole, signal: abort.signal });
  abort.abort();
  await vi.waitFor(() => expect(handle.fd).toBe(CLOSED));
});

test('closes the file when the request was aborted before', async () => {
  const handle = await openFile();
  streamFile(handle, { range: whole, signal: AbortSignal.abort() });
  await vi.waitFor(() => expect(handle.fd).toBe(CLOSED));
});

test('fails, and closes the file, when the file ends before its size', async () => {
  const handle = await openFile();
  const stream = streamFile(handle, { range: { start: 0, end: SIZE + 1 }, signal: new AbortController().signal });
  await expect(new Response(stream).bytes()).rejects.toThrow(/ended before its size/);
  expect(handle.fd).toBe(CLOSED);
});
