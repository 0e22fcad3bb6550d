import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { boundConnections, type ConnectionLimits } from './boundConnections.ts';

let stop: (() => void) | undefined;
afterEach(() => stop?.());

async function listen(limits: ConnectionLimits) {
  const server = createServer((_incoming, outgoing) => void outgoing.end('ok'));
  const connections = boundConnections(server, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  /** Opens a connection from an address of this machine, and waits until the server has taken it. */
  async function open(localAddress: string): Promise<Socket> {
    const taken = once(server, 'connection');
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).resume();
    await taken;
    return socket;
  }
  async function ask(socket: Socket): Promise<void> {
    const answered = once(socket, 'data');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await answered;
  }
  return { connections, open, ask };
}

// Shows LIMIT-15.
test('of a peer with too many connections, the one that has stood still for longest is ended', async () => {
  const { connections, open, ask } = await listen({ total: 0, perPeer: 2 });
  const [busy, still] = [await open('127.0.0.2'), await open('127.0.0.2')];
  await ask(busy);
  const other = await open('127.0.0.3');
  const over = once(still, 'close');
  const latest = await open('127.0.0.2');
  await over;
  for (const socket of [busy, other, latest]) await ask(socket);
  expect([connections.count(), connections.ended()]).toEqual([3, 1]);
});

// Shows LIMIT-15.
test('of too many connections in all, the peer with the most loses one', async () => {
  const { connections, open, ask } = await listen({ total: 3, perPeer: 0 });
  const honest = await open('127.0.0.3');
  const [oldest] = [await open('127.0.0.2'), await open('127.0.0.2')];
  const over = once(oldest, 'close');
  await open('127.0.0.2');
  await over;
  await ask(honest);
  expect([connections.count(), connections.ended(), [...connections.open].length]).toEqual([3, 1, 3]);
});

test('a connection that closes is forgotten', async () => {
  const { connections, open } = await listen({ total: 0, perPeer: 0 });
  const socket = await open('127.0.0.2');
  expect(connections.count()).toBe(1);
  socket.destroy();
  await expect.poll(() => connections.count()).toBe(0);
});
