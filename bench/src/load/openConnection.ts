import { once } from 'node:events';
import { connect } from 'node:net';
import { createResponseParser, type OnAnswer } from './createResponseParser.ts';

/** One keep-alive connection with at most one call under way. */
export interface Connection {
  send(request: Buffer): void;
  close(): void;
}

/** Where to, and who hears of it. */
export interface ConnectionParams {
  readonly port: number;
  readonly keepBody: boolean;
  readonly onAnswer: OnAnswer;
  /** The connection broke, or what came over it was no answer. */
  readonly onFailure: (error: Error) => void;
}

/** Large enough for most answers to come in one piece. */
const readBufferBytes = 64 * 1024;

/**
 * Opens a connection to a server on this machine.
 *
 * Reads into one buffer of its own (`onread`), past the stream machinery: the load must cost little beside what it measures.
 *
 * @param params where to, and who hears of it
 * @returns the open connection
 */
export async function openConnection(params: ConnectionParams): Promise<Connection> {
  const parser = createResponseParser({ keepBody: params.keepBody, onAnswer: params.onAnswer });
  let closed = false;
  const fail = (error: Error) => {
    if (!closed) params.onFailure(error);
  };
  const socket = connect({
    host: '127.0.0.1',
    port: params.port,
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(readBufferBytes),
      callback(length, buffer) {
        try {
          // `buffer` is the Buffer given above; only its declared type is wider.
          parser.push((buffer as Buffer).subarray(0, length));
        } catch (error) {
          fail(error as Error);
        }
        return true;
      },
    },
  });
  await once(socket, 'connect');
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The server closed a connection.')));
  return {
    send: (request) => {
      socket.write(request);
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}
