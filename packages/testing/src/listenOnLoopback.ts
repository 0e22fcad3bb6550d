import { once } from 'node:events';
import type { Server } from 'node:http';

/** A server that listens on 127.0.0.1. */
export interface LoopbackServer {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Stops listening and ends open connections. */
  readonly close: () => Promise<void>;
}

/**
 * How long a connection may rest between two requests, in milliseconds. Node's five seconds run out while a test's process has no core to
 * itself, and its client then writes to a connection that has just been closed.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * Lets a server listen on 127.0.0.1 at a free port.
 *
 * @param server - not yet listening
 * @returns its URL and how to stop it
 */
export async function listenOnLoopback(server: Server): Promise<LoopbackServer> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
