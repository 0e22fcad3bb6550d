import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createProgramReader } from './createProgramReader.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`;
}

// Shows ADMIN-13.
test('each program is reported, with its status or why there is none, and nobody else is asked', async () => {
  let strays = 0;
  const stray = await serve((_, outgoing) => {
    strays++;
    outgoing.end('{}');
  });
  const read = createProgramReader({
    relayer: await serve((_, outgoing) => void outgoing.end('{"faults":["chain: silent"]}')),
    broken: await serve((_, outgoing) => void outgoing.writeHead(500).end()),
    text: await serve((_, outgoing) => void outgoing.end('ok')),
    list: await serve((_, outgoing) => void outgoing.end('[]')),
    endless: await serve((_, outgoing) => void outgoing.end('x'.repeat(2 * 1024 * 1024))),
    elsewhere: await serve((_, outgoing) => void outgoing.writeHead(302, { location: stray }).end()),
    gone: 'http://127.0.0.1:1/status',
  });
  expect(await read()).toEqual([
    { name: 'relayer', status: { faults: ['chain: silent'] } },
    { name: 'broken', error: 'it answers 500' },
    { name: 'text', error: 'its answer is no JSON' },
    { name: 'list', error: 'its answer is no status' },
    { name: 'endless', error: 'its answer is too large' },
    { name: 'elsewhere', error: 'it does not answer' },
    { name: 'gone', error: 'it does not answer' },
  ]);
  expect(strays).toBe(0);
});

// Shows ADMIN-13.
test('each program is asked about a request, too', async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve(({ url: path }, outgoing) => {
    asked.push(path);
    outgoing.end('{}');
  });
  const read = createProgramReader({ relayer: url, other: `${url}?kind=x` });
  await read('pi_1&x=2');
  await read();
  await read();
  expect(asked).toEqual([
    '/status?about=pi_1%26x%3D2',
    '/status?kind=x&about=pi_1%26x%3D2',
    '/status',
    '/status?kind=x',
  ]);
});

test('a program that says nothing is waited for three seconds, then briefly, and told of once it answers', async () => {
  let isMute = true;
  const read = createProgramReader({ mute: await serve((_, outgoing) => void (isMute || outgoing.end('{}'))) });
  expect(await read()).toEqual([{ name: 'mute', error: 'it does not answer' }]);
  const reported = read('pi_1');
  expect(await Promise.race([reported, new Promise((resolve) => setTimeout(resolve, 1000))])).toEqual([
    { name: 'mute', error: 'it does not answer' },
  ]);
  isMute = false;
  await expect.poll(() => read('pi_1')).toEqual([{ name: 'mute', status: {} }]);
});
