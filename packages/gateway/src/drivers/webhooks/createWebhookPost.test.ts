import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../../test/rigs/startReceiver.ts';
import { createPublicLookup, createWebhookPost, type LookUp } from './createWebhookPost.ts';

const { signal } = new AbortController();
const order = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{"ä":1}', signal });

/** A resolver that gives what the test says, one answer a look-up. */
function resolverOf(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const lookUp = (name: string, _: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
    const addresses = answers[Math.min(asked.push(name), answers.length) - 1] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { asked, lookUp: lookUp as unknown as LookUp };
}

describe('the client that posts', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  const receive = async (): Promise<Receiver> => {
    const receiver = await startReceiver();
    closers.push(receiver.close);
    return receiver;
  };
  const client = (options: Partial<Parameters<typeof createWebhookPost>[0]> = {}) => {
    const post = createWebhookPost({ allowPrivate: true, ...options });
    closers.push(post.close);
    return post;
  };
  const serve = async (server: Server): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    // A listening TCP server has an AddressInfo.
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };

  test('posts the very bytes, and tells the status', async () => {
    const receiver = await receive();
    expect(await client()(order(receiver.url))).toEqual({ status: 204 });
    expect(receiver.received[0]?.body).toBe('{"ä":1}');
    expect(receiver.received[0]?.headers['content-length']).toBe('8');
    receiver.answer(500);
    expect(await client()(order(receiver.url))).toEqual({ status: 500 });
  });

  // Shows WEBHOOK-3.
  test('follows no redirect', async () => {
    const receiver = await receive();
    receiver.answer(307);
    expect(await client()(order(receiver.url))).toEqual({ status: 307 });
    expect(receiver.attempts()).toBe(1);
  });

  // Shows WEBHOOK-3.
  test('without leave, neither http nor an address of this machine is connected to, however it is written', async () => {
    const receiver = await receive();
    const { port } = new URL(receiver.url);
    const post = client({ allowPrivate: false });
    expect(await post(order(receiver.url))).toEqual({ error: expect.stringMatching(/^It is not https/) });
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      'a.localhost.',
    ]) {
      const answer = await post(order(`https://${host}:${port}/`));
      expect(answer, host).toEqual({ error: expect.stringMatching(/^It leads to a private/) });
    }
    expect(receiver.attempts()).toBe(0);
  });

  // Shows WEBHOOK-3.
  test('a name is checked by the address that is connected to, at each connection', async () => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    // Public when it was registered, of this machine when it is posted to; and both at once.
    const names = resolverOf(['127.0.0.1'], ['10.0.0.1', '::1', '169.254.169.254', 'fd00::1'], []);
    const post = client({ allowPrivate: false, lookUp: names.lookUp });
    for (let look = 0; look < 3; look++) {
      const answer = await post(order(`https://hooks.example.org:${port}/`));
      expect(answer).toEqual({ error: expect.stringMatching(/^It leads to a private/) });
    }
    expect(names.asked).toEqual(Array.from({ length: 3 }, () => 'hooks.example.org'));
    expect(connections).toBe(0);
    // With leave, the same address is connected to.
    await client()(order(`https://127.0.0.1:${port}/`));
    expect(connections).toBe(1);
  });

  // Shows WEBHOOK-3.
  test('of a name’s addresses only the public ones are there to connect to', async () => {
    const { lookUp } = resolverOf(['192.168.0.9', '9.9.9.9', '127.0.0.1', '2620:fe::fe', '::1']);
    const find = (all: boolean) =>
      new Promise((resolve, reject) => {
        const lookUpPublic = createPublicLookup(lookUp);
        lookUpPublic('hooks.example.org', { all }, (error, found) => (error === null ? resolve(found) : reject(error)));
      });
    expect(await find(true)).toEqual([
      { address: '9.9.9.9', family: 4 },
      { address: '2620:fe::fe', family: 6 },
    ]);
    expect(await find(false)).toBe('9.9.9.9');
  });

  // Shows WEBHOOK-3.
  test('a receiver that hangs, or sends without end, holds nothing up', async () => {
    const receiver = await receive();
    receiver.answer('hang');
    expect(await client({ timeoutMs: 200 })(order(receiver.url))).toEqual({ error: 'It took too long to answer.' });
    let sent = 0;
    const endless = createServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    const url = await serve(endless);
    const closed = new Promise((resolve) => endless.on('connection', (socket) => socket.on('close', resolve)));
    expect(await client()(order(url))).toEqual({ status: 200 });
    await closed;
    // What the system buffers by the time that it is cut off.
    expect(sent).toBeLessThan(50_000_000);
  });

  test('a failure is a sentence without addresses', async () => {
    const receiver = await receive();
    await receiver.close();
    expect(await client()(order(receiver.url))).toEqual({ error: 'The connection failed (ECONNREFUSED).' });
    const lookUp = (_: string, __: unknown, callback: (error: Error) => void) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND hooks.example.org'), { code: 'ENOTFOUND' }));
    const post = client({ allowPrivate: false, lookUp: lookUp as unknown as LookUp });
    expect(await post(order('https://hooks.example.org/'))).toEqual({ error: 'Its name leads nowhere (ENOTFOUND).' });
  });
});
