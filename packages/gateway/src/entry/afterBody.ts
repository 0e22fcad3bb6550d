import type { IncomingMessage } from 'node:http';

/** How long the rest of a body is waited for that nobody wants, in milliseconds. */
const LINGER_MS = 1000;

const announcesBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

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
  if (announcesBody(incoming) && !incoming.complete && !incoming.destroyed) await discardRest(incoming);
  return known;
}
