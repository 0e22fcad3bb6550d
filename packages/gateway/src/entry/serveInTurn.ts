import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget, ByteHold } from '../http/createByteBudget.ts';
import { countHeadBytes } from './countHeadBytes.ts';

/** Most calls that wait on one connection: nobody sends that many at once, but a packet holds thousands. */
const MAX_WAITING = 128;
/** Bytes of a request with its answer, beside its head and body. Measured: 2.6 kB. */
const CALL_BYTES = 2600;
/** Most of a body that is in memory before anybody reads it. */
const UNREAD_BYTES = 65_536;

/** How much memory a call takes while it waits. */
function countCallBytes(incoming: IncomingMessage): number {
  const { headers } = incoming;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const announced = isChunked ? UNREAD_BYTES : Number(headers['content-length'] ?? 0);
  return CALL_BYTES + countHeadBytes(incoming) + Math.min(announced, UNREAD_BYTES);
}

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Calls of a connection that wait for those before them. */
interface Queue {
  waiting: number;
  readonly hold: ByteHold;
}

/**
 * Serves the requests of a connection one after another, however many are sent at once: each sees what those before it have done, and
 * at most one answer waits for a client that does not read. While one waits for its turn, no more are read.
 *
 * @param calls - what bounds those that have been read by then
 * @see docs/specification.md LIMIT-14
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
export function serveInTurn(serve: Serve, calls: ByteBudget): Serve {
  const queues = new WeakMap<Socket, Queue>();

  function openQueue(socket: Socket): Queue {
    const queue = { waiting: 0, hold: calls.open(() => socket.destroy()) };
    queues.set(socket, queue);
    socket.pause();
    socket.once('close', queue.hold.release);
    return queue;
  }

  function closeQueue(socket: Socket, { hold }: Queue): void {
    queues.delete(socket);
    socket.off('close', hold.release);
    hold.release();
    socket.resume();
  }

  return function serveNext(incoming, outgoing) {
    const { socket } = incoming;
    if (outgoing.socket !== null) {
      serve(incoming, outgoing);
      return;
    }
    // The rest of what was read with one that has ended the connection.
    if (socket.destroyed) return;
    const queue = queues.get(socket) ?? openQueue(socket);
    queue.waiting += 1;
    if (queue.waiting > MAX_WAITING) {
      socket.destroy();
      return;
    }
    queue.hold.grow(countCallBytes(incoming));
    outgoing.once('socket', () => {
      queue.waiting -= 1;
      if (queue.waiting === 0) closeQueue(socket, queue);
      serve(incoming, outgoing);
    });
  };
}
