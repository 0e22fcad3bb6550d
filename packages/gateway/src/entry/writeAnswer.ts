import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteBudget } from '../http/byteBudget.ts';
import type { WrittenResponse } from '../http/response.ts';

/** How long the rest of a body is waited for that nobody wants, in milliseconds. */
const LINGER_MS = 1000;
/** Statuses from which an answer tells of a failure. */
const FIRST_FAILURE = 400;

const isStillComing = (incoming: IncomingMessage) =>
  !incoming.complete &&
  !incoming.destroyed &&
  (incoming.headers['transfer-encoding'] !== undefined || Number(incoming.headers['content-length'] ?? 0) > 0);

/** Lets the rest of a body come in, and drops it. */
function discardRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      incoming.off('end', done).off('close', done);
      resolve();
    };
    const timer = setTimeout(done, LINGER_MS);
    incoming.on('end', done).on('close', done).resume();
  });
}

/**
 * Holds an answer back until the request's body has come in, where the connection ends with the answer: to close it on bytes
 * that are still coming resets it, and the client may lose the end of an answer that it has not read yet.
 *
 * @returns the answer; after a second in any case
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export async function afterBody<T>(incoming: IncomingMessage, answer: T | Promise<T>): Promise<T> {
  const known = await answer;
  if (isStillComing(incoming)) await discardRest(incoming);
  return known;
}

/** Holds what an answer's client has not read yet, until it has. */
function holdUnread({ socket }: IncomingMessage, outgoing: ServerResponse, answers: ByteBudget): void {
  if (socket.writableLength === 0) return;
  const hold = answers.open(() => socket.destroy());
  outgoing.once('close', hold.release);
  hold.grow(socket.writableLength);
}

/** Writes an answer whose turn it is. */
export function writeAnswer(
  { incoming, outgoing }: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  { status, body, headers }: WrittenResponse,
  answers: ByteBudget,
): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  if (body === null) {
    outgoing.writeHead(status, [...headers]).end();
    return;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  // One list of names and values is what Node writes fastest.
  outgoing.writeHead(status, headers.concat('content-length', String(length)));
  outgoing.end(body);
  holdUnread(incoming, outgoing, answers);
}

/** Whether the connection ends with this answer, and bytes may still be on their way. */
export function endsWhileComing(incoming: IncomingMessage, outgoing: ServerResponse, status: number): boolean {
  if (!isStillComing(incoming)) return false;
  // Nobody waits for the whole of a body that was refused.
  if (status >= FIRST_FAILURE) outgoing.shouldKeepAlive = false;
  return !outgoing.shouldKeepAlive;
}
