import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DiskRig, newPath, send, sha256, startDiskObjects } from './startDiskObjects.rig.ts';

const content = Buffer.from('what only its owner can read');
const other = Buffer.from('something else');

let rig: DiskRig;
beforeAll(async () => {
  rig = await startDiskObjects();
});
afterAll(() => rig.close());

// Shows OBJECT-9.
test('what was never there: 404 for get and head, 204 for delete', async () => {
  const path = newPath(content);
  expect((await rig.get(path)).status).toBe(404);
  const head = await send(await rig.sign('head', path));
  expect([head.status, await head.text()]).toEqual([404, '']);
  expect((await send(await rig.sign('delete', path))).status).toBe(204);
});

test('of many rivals who put one object, exactly one succeeds', async () => {
  const path = newPath(content);
  // Two processes' stores over one directory, as two gateways on one machine.
  const second = await startDiskObjects({ directory: rig.directory });
  const puts = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? rig : second).put(path, content));
  const statuses = (await Promise.all(puts)).map(({ status }) => status);
  await second.close();

  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  // The others find the object, or the upload of a rival with the very same URL.
  expect(statuses.filter((status) => status === 412 || status === 409)).toHaveLength(19);
  expect(Buffer.from(await (await rig.get(path)).arrayBuffer())).toEqual(content);
  expect(await rig.listTemp()).toEqual([]);
});

test('an unbound put replaces, and may ask not to', async () => {
  const path = newPath(content);
  const put = async (body: Uint8Array, headers = {}) => send(await rig.sign('put', path), { body, headers });
  const first = await put(content);
  const second = await put(other);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
  expect(Buffer.from(await (await rig.get(path)).arrayBuffer())).toEqual(other);

  expect((await put(content, { 'if-none-match': '*' })).status).toBe(412);
  expect((await put(content, { 'if-none-match': '"some-tag"' })).status).toBe(400);
  expect(Buffer.from(await (await rig.get(path)).arrayBuffer())).toEqual(other);
});

test('replacing while others read never shows a mixture', async () => {
  const path = newPath(content);
  const bodies = ['a', 'b'].map((letter) => Buffer.alloc(300_000, letter));
  const put = async (body: Uint8Array) => send(await rig.sign('put', path), { body });
  await put(content);
  const seen = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      if (index % 3 === 0) await put(bodies[index % 2] ?? content);
      return sha256(Buffer.from(await (await rig.get(path)).arrayBuffer()));
    }),
  );
  const whole = [content, ...bodies].map(sha256);
  for (const hash of seen) expect(whole).toContain(hash);
});

test('where puts must be bound, an unbound URL is refused', async () => {
  const strict = await startDiskObjects({ bindContent: true });
  const path = newPath(content);
  expect((await send(await strict.sign('put', path), { body: content })).status).toBe(403);
  expect((await strict.put(path, content)).status).toBe(200);
  await strict.close();
});
