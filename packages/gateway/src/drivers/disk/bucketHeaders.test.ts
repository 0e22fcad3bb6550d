import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DiskRig, newPath, send, startDiskObjects } from './startDiskObjects.rig.ts';

const content = Buffer.from('content');
const APP = 'https://app.example';

let open: DiskRig;
let closed: DiskRig;
beforeAll(async () => {
  open = await startDiskObjects();
  closed = await startDiskObjects({ corsOrigins: ['https://other.example', APP] });
});
afterAll(() => Promise.all([open.close(), closed.close()]));

const allowed = (response: Response) => response.headers.get('access-control-allow-origin');

test('a preflight needs no signature, and allows the methods of presigned URLs and any header', async () => {
  const preflight = await fetch(`${open.url}/objects/${newPath(content)}`, {
    method: 'OPTIONS',
    headers: { origin: APP, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-a,x-amz-b' },
  });
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, PUT, HEAD, DELETE',
    'access-control-allow-headers': 'x-a,x-amz-b',
    'access-control-max-age': expect.stringMatching(/^\d+$/),
    vary: expect.stringContaining('Origin'),
  });
});

test('every answer carries the policy, refusals too, and shows the headers that a page needs', async () => {
  const path = newPath(content);
  const order = await open.sign('get', path);
  const answers = [
    await open.put(path, content),
    await open.put(path, content),
    await send(order),
    await send(order, { method: 'DELETE' }),
    await send(order, { method: 'POST' }),
    await open.get(newPath(content)),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 412, 200, 403, 405, 404]);
  for (const answer of answers) {
    expect(allowed(answer)).toBe('*');
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/^ETag, Content-Length/);
    expect(answer.headers.get('vary')).toMatch(/^Origin/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('only listed origins may read, where a list is set', async () => {
  const path = newPath(content);
  await closed.put(path, content);
  expect(allowed(await closed.get(path, { origin: APP }))).toBe(APP);
  expect(allowed(await closed.get(path, { origin: 'https://app.example.evil' }))).toBeNull();
  expect(allowed(await closed.get(path, { origin: 'null' }))).toBeNull();
  expect(allowed(await closed.get(path))).toBeNull();
});
