import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Where a connection is cut in whose client commits: before the server has it, or before the client knows. */
export type Cut = 'before commit' | 'before answer';

/** A TCP proxy that cuts connections in the middle of a commit. */
export interface CuttingProxy {
  readonly port: number;
  /** Cuts the next connection that commits; undefined: none. */
  cutNext(cut: Cut | undefined): void;
  /** Lets connections pass nothing any more, not even their end, as after a loss of power: the present ones, or whoever comes too. */
  silence(which: 'present' | 'all'): void;
  close(): Promise<void>;
}

/** Starts a proxy to a server of this machine. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let next: Cut | undefined;
  const silent = new WeakSet<Socket>();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isSilent) {
      sockets.add(client.on('error', () => undefined));
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: target });
    let isMute = false;
    const end = () => {
      if (silent.has(client)) return;
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', end)
        .on('end', end)
        .on('close', () => {
          sockets.delete(socket);
          end();
        });
    }
    client.on('data', (bytes) => {
      if (silent.has(client)) return;
      if (next !== undefined && bytes.includes('COMMIT')) {
        const cut = next;
        next = undefined;
        if (cut === 'before commit') return end();
        isMute = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (silent.has(client)) return;
      if (!isMute) client.write(bytes);
      // The server has committed, and says so.
      else if (bytes.includes('COMMIT')) end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port');
  return {
    port: address.port,
    cutNext(cut) {
      next = cut;
    },
    silence(which) {
      isSilent = which === 'all';
      for (const socket of sockets) silent.add(socket);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
