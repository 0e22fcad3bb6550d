import { connect } from 'node:net';

/** Bytes to send on a connection of their own. */
export interface Sending {
  readonly port: number;
  readonly bytes: Uint8Array;
  /** How long the other side may be silent before this side ends; absent: it never does. */
  readonly endAfterMs?: number;
  /** How old a connection may be before it counts as hanging. */
  readonly timeoutMs: number;
}

/**
 * Sends bytes as they are and reads what comes back until the server closes the connection.
 *
 * @throws Error when the server neither answers nor closes in time
 */
export async function exchangeBytes({ port, bytes, endAfterMs, timeoutMs }: Sending): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const endSoon = () => (endAfterMs === undefined ? undefined : setTimeout(() => socket.end(), endAfterMs));
  let ending = endSoon();
  const patience = setTimeout(() => {
    reject(new Error(`The server kept the connection open for ${timeoutMs} ms; so far it said:\n${all()}`));
    socket.destroy();
  }, timeoutMs);
  const all = () => Buffer.concat(chunks);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    clearTimeout(ending);
    ending = endSoon();
  });
  socket.on('end', () => socket.end());
  // A server that closes before it has read everything resets the connection.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(ending);
    clearTimeout(patience);
    resolve(all());
  });
  socket.write(bytes);
  return await promise;
}
