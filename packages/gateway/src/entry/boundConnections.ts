import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientOfAddress } from '../http/request.ts';

/** How many connections there may be; 0 is no bound. */
export interface ConnectionLimits {
  /** In all. */
  readonly total: number;
  /** Of one peer: an IPv4 address, or the /64 of an IPv6 one. */
  readonly perPeer: number;
}

/** A server's connections. */
export interface Connections {
  /** Each one that is open. */
  readonly open: Iterable<Socket>;
  readonly count: () => number;
  /** Connections that were ended so far to make room for others. */
  readonly ended: () => number;
}

/**
 * Bounds a server's connections. A new one is always let in: what has stood still for the longest goes, of the peer itself if that has
 * too many, else of the peer with the most. So who holds connections open gets none from others.
 *
 * @see docs/specification.md LIMIT-15
 */
export function boundConnections(server: Server, { total, perPeer }: ConnectionLimits): Connections {
  /** Of each peer, the one that has stood still for the longest first. */
  const byPeer = new Map<string, Set<Socket>>();
  let count = 0;
  let ended = 0;

  /** The peers by how many connections they have: of those with the most, only the first is looked for. */
  function findLargest(): Set<Socket> | undefined {
    let largest: Set<Socket> | undefined;
    for (const sockets of byPeer.values()) if (sockets.size > (largest?.size ?? 0)) largest = sockets;
    return largest;
  }

  function forget(peer: string, socket: Socket): void {
    const sockets = byPeer.get(peer);
    if (sockets?.delete(socket) !== true) return;
    count -= 1;
    if (sockets.size === 0) byPeer.delete(peer);
  }

  function endOldest(peer: string, sockets: Set<Socket>): void {
    const [oldest] = sockets;
    if (oldest === undefined) return;
    ended += 1;
    forget(peer, oldest);
    oldest.destroy();
  }

  const peerOf = (socket: Socket) => clientOfAddress(socket.remoteAddress ?? '');
  /** By socket, for who closed has no address any more. */
  const peers = new WeakMap<Socket, string>();

  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    peers.set(socket, peer);
    const sockets = byPeer.get(peer) ?? new Set();
    byPeer.set(peer, sockets.add(socket));
    count += 1;
    socket.once('close', () => forget(peer, socket));
    if (perPeer > 0 && sockets.size > perPeer) endOldest(peer, sockets);
    if (total === 0 || count <= total) return;
    const largest = findLargest();
    const [of] = largest ?? [];
    if (largest !== undefined && of !== undefined) endOldest(peers.get(of) ?? '', largest);
  });

  /** Puts a connection behind those that stand still for longer. */
  function touch(socket: Socket): void {
    const sockets = byPeer.get(peers.get(socket) ?? '');
    if (sockets?.delete(socket) === true) sockets.add(socket);
  }
  server.prependListener('request', ({ socket }, outgoing) => {
    touch(socket);
    outgoing.once('finish', () => touch(socket));
  });

  return {
    open: {
      *[Symbol.iterator]() {
        for (const sockets of byPeer.values()) yield* sockets;
      },
    },
    count: () => count,
    ended: () => ended,
  };
}
