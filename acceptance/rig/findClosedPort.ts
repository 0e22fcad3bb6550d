import { once } from 'node:events';
import { createServer } from 'node:net';

/** Finds a port of the loopback interface on which nobody listens: one that was just given and given back. */
export async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return address.port;
}
