import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DiskRig, newPath, send, startDiskObjects } from './startDiskObjects.rig.ts';
import { parseRange } from './streamFile.ts';

const content = Buffer.from('0123456789');

let rig: DiskRig;
let path: string;
let etag: string;
beforeAll(async () => {
  rig = await startDiskObjects();
  path = newPath(content);
  etag = (await rig.put(path, content)).headers.get('etag') ?? '';
});
afterAll(() => rig.close());

test.each([
  ['bytes=0-3', '0123', 'bytes 0-3/10'],
  ['bytes=4-', '456789', 'bytes 4-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=-30', '0123456789', 'bytes 0-9/10'],
  ['bytes=9-9', '9', 'bytes 9-9/10'],
  ['bytes=5-100', '56789', 'bytes 5-9/10'],
])('Range: %s', async (range, body, contentRange) => {
  const part = await rig.get(path, { range });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(contentRange);
  expect(part.headers.get('content-length')).toBe(String(body.length));
  expect(await part.text()).toBe(body);
});

test.each(['bytes=10-', 'bytes=10-12', 'bytes=-0'])('Range: %s reaches no byte', async (range) => {
  const refused = await rig.get(path, { range });
  expect([refused.status, refused.headers.get('content-range')]).toEqual([416, 'bytes */10']);
  expect(await refused.json()).toEqual({ error: expect.any(String), code: 'OBJECT_RANGE_UNSATISFIABLE' });
});

test.each(['bytes=0-1,3-4', 'bytes=5-2', 'bytes=-', 'items=0-1', 'bytes=a-b', ''])(
  'Range: "%s" is ignored',
  async (range) => {
    const whole = await rig.get(path, { range });
    expect([whole.status, await whole.text()]).toEqual([200, '0123456789']);
  },
);

// Shows OBJECT-10.
test('a range is as long as the slice that it names', () => {
  const sizes = fc.nat({ max: 20 });
  fc.assert(
    fc.property(sizes, sizes, sizes, (size, first, last) => {
      fc.pre(first <= last);
      const bytes = Array.from({ length: size }, (_, index) => index);
      const check = (header: string, slice: number[]) => {
        const range = parseRange(header, size);
        if (slice.length === 0) expect(range).toBe('unsatisfiable');
        else expect(range).toEqual({ start: slice[0], end: (slice.at(-1) ?? 0) + 1 });
      };
      check(`bytes=${first}-${last}`, bytes.slice(first, last + 1));
      check(`bytes=${first}-`, bytes.slice(first));
      check(`bytes=-${first}`, first === 0 ? [] : bytes.slice(-first));
    }),
  );
});

test('a range means nothing to HEAD', async () => {
  const head = await send(await rig.sign('head', path), { headers: { range: 'bytes=0-3' } });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
});

const yesterday = new Date(Date.now() - 86_400_000).toUTCString();
const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();

test.each<[string, () => Record<string, string>, number]>([
  ['if-none-match, the same', () => ({ 'if-none-match': `"x", ${etag}` }), 304],
  ['if-none-match, the same but weak', () => ({ 'if-none-match': `W/${etag}` }), 304],
  ['if-none-match, another', () => ({ 'if-none-match': '"x"' }), 200],
  ['if-none-match before if-modified-since', () => ({ 'if-none-match': '"x"', 'if-modified-since': tomorrow }), 200],
  ['if-match, the same', () => ({ 'if-match': etag }), 200],
  ['if-match, any', () => ({ 'if-match': '*' }), 200],
  ['if-match, the same but weak', () => ({ 'if-match': `W/${etag}` }), 412],
  ['if-match, another', () => ({ 'if-match': '"x"' }), 412],
  ['if-match before if-unmodified-since', () => ({ 'if-match': etag, 'if-unmodified-since': yesterday }), 200],
  ['if-modified-since, changed', () => ({ 'if-modified-since': yesterday }), 200],
  ['if-modified-since, unchanged', () => ({ 'if-modified-since': tomorrow }), 304],
  ['if-modified-since, not a date', () => ({ 'if-modified-since': 'soon' }), 200],
  ['if-unmodified-since, changed', () => ({ 'if-unmodified-since': yesterday }), 412],
  ['if-unmodified-since, unchanged', () => ({ 'if-unmodified-since': tomorrow }), 200],
  ['if-range, the same', () => ({ 'if-range': etag, range: 'bytes=0-0' }), 206],
  ['if-range, another', () => ({ 'if-range': '"x"', range: 'bytes=0-0' }), 200],
])('%s', async (_, headers, status) => {
  const answer = await rig.get(path, headers());
  expect(answer.status).toBe(status);
  if (status < 400) expect(answer.headers.get('etag')).toBe(etag);
});

test('a large object comes whole, and in parts that fit together', async () => {
  const large = Buffer.from(Array.from({ length: 500_000 }, (_, index) => index % 251));
  const target = newPath(large);
  await rig.put(target, large);
  expect(Buffer.from(await (await rig.get(target)).arrayBuffer())).toEqual(large);
  const parts = await Promise.all(
    ['bytes=0-199999', 'bytes=200000-'].map(async (range) => (await rig.get(target, { range })).arrayBuffer()),
  );
  expect(Buffer.concat(parts.map((part) => Buffer.from(part)))).toEqual(large);
});

test.runIf(process.platform === 'linux')('a download that is broken off closes its file', async () => {
  const large = Buffer.alloc(9_000_000);
  const target = newPath(large);
  await rig.put(target, large);
  const abort = new AbortController();
  const { url } = await rig.sign('get', target);
  const answer = await fetch(url, { signal: abort.signal });
  // More than the connection's buffers hold, so that the server is waiting.
  await answer.body?.getReader().read();
  expect(await isOpen(target)).toBe(true);
  abort.abort();
  await vi.waitFor(async () => expect(await isOpen(target)).toBe(false));
});

/** Whether this process has the object's file open. */
async function isOpen(objectPath: string): Promise<boolean> {
  const descriptors = await readdir('/proc/self/fd');
  const targets = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.includes(join(rig.directory, objectPath));
}
