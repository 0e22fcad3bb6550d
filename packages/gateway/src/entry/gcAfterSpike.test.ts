import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { boundConnections } from './boundConnections.ts';
import { gcAfterSpike } from './gcAfterSpike.ts';

const NO_BOUND = { total: 0, perPeer: 0 };

async function startServer() {
  const server = createServer();
  const { count } = boundConnections(server, NO_BOUND);
  const collect = vi.fn();
  gcAfterSpike(server, { count, collect, leastConnections: 8, restMs: 20 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;

  async function open(connections: number): Promise<Socket[]> {
    const before = count();
    const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
    await vi.waitFor(() => expect(count()).toBe(before + connections));
    return sockets;
  }

  return {
    open,
    count,
    collect,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test('what a rush of connections leaves is collected once, when it is over', async () => {
  await using server = await startServer();
  for (let rush = 1; rush <= 2; rush += 1) {
    const sockets = await server.open(8);
    expect(server.collect).toHaveBeenCalledTimes(rush - 1);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(() => expect(server.collect).toHaveBeenCalledTimes(rush));
  }
});

test('few connections are no rush, and one that goes on is not over', async () => {
  await using server = await startServer();
  const few = await server.open(7);
  for (const socket of few) socket.destroy();
  await vi.waitFor(() => expect(server.count()).toBe(0));
  const many = await server.open(9);
  for (const socket of many.slice(0, 6)) socket.destroy();
  await vi.waitFor(() => expect(server.count()).toBe(3));
  // A collection would have come by now.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(server.collect).not.toHaveBeenCalled();
  for (const socket of many) socket.destroy();
  await vi.waitFor(() => expect(server.collect).toHaveBeenCalledTimes(1));
});
