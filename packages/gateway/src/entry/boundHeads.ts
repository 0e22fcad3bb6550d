import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How often unfinished heads are looked for, in milliseconds: what can come in between is bounded by the network. */
const LOOK_EVERY_MS = 250;
/** Most bytes of a head: what comes beyond is refused by Node. */
const LARGEST_HEAD = 16_384;
/** How much of the budget is free once connections were ended. */
const FREED_SHARE = 1 / 8;

interface HeadOptions {
  /** Most bytes of all heads that have not come in wholly. */
  readonly maxBytes: number;
  /** The server's connections, those that have stood still for the longest first. */
  readonly connections: Iterable<Socket>;
  readonly count: () => number;
}

/** The bytes in use of a budget, and how often a connection was closed for it. */
export interface HeadBudget {
  readonly used: () => number;
  readonly ended: () => number;
}

/** Whether a request has come in whose answer is not out yet. Node keeps that answer here. */
const isBusy = (socket: Socket) =>
  ((socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null) !== null;

/**
 * Bounds the heads that have not come in wholly, of which Node reports nothing until they have: what a connection has sent since its last
 * answer was out. The longest are ended. While connections are too few to fill the budget, nothing is looked at.
 *
 * @see docs/specification.md LIMIT-14
 */
export function boundHeads(server: Server, { maxBytes, connections, count }: HeadOptions): HeadBudget {
  /** Bytes that a connection had sent when its last answer was out. */
  const sentBefore = new WeakMap<Socket, number>();
  let used = 0;
  let ended = 0;

  function findUnfinished(): { readonly socket: Socket; readonly bytes: number }[] {
    const unfinished = [];
    for (const socket of connections) {
      if (isBusy(socket)) continue;
      const bytes = socket.bytesRead - (sentBefore.get(socket) ?? 0);
      if (bytes > 0) unfinished.push({ socket, bytes });
    }
    return unfinished;
  }

  function look(): void {
    used = 0;
    if (count() * LARGEST_HEAD <= maxBytes) return;
    const unfinished = findUnfinished();
    for (const { bytes } of unfinished) used += bytes;
    if (used <= maxBytes) return;
    for (const { socket, bytes } of unfinished.sort((a, b) => b.bytes - a.bytes)) {
      if (used <= maxBytes * (1 - FREED_SHARE)) return;
      used -= bytes;
      ended += 1;
      socket.destroy();
    }
  }

  server.prependListener('request', ({ socket }, outgoing) => {
    outgoing.once('finish', () => sentBefore.set(socket, socket.bytesRead));
  });
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  server.once('close', () => clearInterval(timer));
  return { used: () => used, ended: () => ended };
}
