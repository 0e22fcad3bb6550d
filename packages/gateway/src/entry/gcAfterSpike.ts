import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections whose garbage is worth a collection. */
const LEAST_CONNECTIONS = 500;
/** A rush is over once this share of its connections is left. */
const LEFT_SHARE = 1 / 4;
/** How long it has to be over, in milliseconds: the next wave would fill the same memory. */
const REST_MS = 2000;

interface RushOptions {
  /** How many connections the server has. */
  readonly count: () => number;
  /** Collects what nothing holds any more. */
  readonly collect: () => void;
  readonly leastConnections?: number;
  readonly restMs?: number;
}

/** V8's garbage collection if Node runs with `--expose-gc`; else nothing. @see https://nodejs.org/api/cli.html#--expose-gc */
export function findCollector(): () => void {
  const { gc } = globalThis;
  return () => void gc?.({ type: 'major', flavor: 'last-resort', execution: 'async' });
}

/**
 * Collects once a rush of connections is over. Sockets and parsers that lived through it lie in the old generation, small to V8 and
 * large to the system, and a gateway that rests then makes too little garbage for V8 to look there.
 *
 * @see docs/specification.md LIMIT-14
 */
export function gcAfterSpike(server: Server, options: RushOptions): void {
  const { count, collect, leastConnections = LEAST_CONNECTIONS, restMs = REST_MS } = options;
  let most = 0;
  let timer: NodeJS.Timeout | undefined;

  const isOver = () => most >= leastConnections && count() <= most * LEFT_SHARE;

  function collectIfOver(): void {
    timer = undefined;
    if (!isOver()) return;
    most = count();
    collect();
  }

  server.on('connection', (socket: Socket) => {
    most = Math.max(most, count());
    // After the listener that counts.
    socket.once('close', () => {
      if (timer === undefined && isOver()) timer = setTimeout(collectIfOver, restMs).unref();
    });
  });
}
