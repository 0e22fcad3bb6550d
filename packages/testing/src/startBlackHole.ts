import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A server that takes connections and whatever is sent on them, and never says a word. */
export interface BlackHole extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** How many connections it has taken. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a black hole on 127.0.0.1: what a dependency looks like when its machine hangs. */
export async function startBlackHole(): Promise<BlackHole> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count++;
    sockets.add(socket.on('error', () => undefined).resume());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    connections: () => count,
    close,
    [Symbol.asyncDispose]: close,
  };
}
