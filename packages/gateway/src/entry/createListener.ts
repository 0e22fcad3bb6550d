import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { Gateway } from '../app.ts';
import { NO_BODY } from '../http/request.ts';
import type { Awaitable } from '../ports/awaitable.ts';
import type { Logger } from '../ports/logger.ts';
import { answerRefusal, failed, malformed, responseOf } from './transport.ts';

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
async function afterBody<T>(incoming: IncomingMessage, answer: T | Promise<T>): Promise<T> {
  const known = await answer;
  if (announcesBody(incoming) && !incoming.complete && !incoming.destroyed) await discardRest(incoming);
  return known;
}

/** Holds a value back until the turn of the event loop in which it came has ended. */
export type AtEndOfTurn<T> = (value: Awaitable<T>) => Promise<T>;

/**
 * Makes the holding back. Answers that are written one after another wake the process that waits for them once; written each as soon
 * as it is made, with work between them, they wake it each time, which costs the writer more than the answer.
 *
 * @returns the function; values come out in the order in which they came
 */
export function createEndOfTurn<T>(): AtEndOfTurn<T> {
  let held: (() => void)[] = [];

  function release(): void {
    const ready = held;
    held = [];
    for (const go of ready) go();
  }

  function hold(value: T): Promise<T> {
    return new Promise((resolve) => {
      if (held.length === 0) setImmediate(release);
      held.push(() => resolve(value));
    });
  }

  return (value) => (value instanceof Promise ? value.then(hold) : hold(value));
}

/** Node would refuse it without a word of ours. @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
const lacksHost = ({ headers, httpVersion }: IncomingMessage) => headers.host === undefined && httpVersion === '1.1';

const takesBody = ({ method }: IncomingMessage) => method === 'POST' || method === 'PATCH';

/** The whole body, where all of it has come in; it can be taken once. */
function takeBody(incoming: IncomingMessage): Uint8Array | undefined {
  if (!incoming.complete || incoming.destroyed || incoming.readableDidRead) return undefined;
  // Nobody has set an encoding, so bytes are read.
  const body: Buffer | null = incoming.read();
  return body ?? NO_BODY;
}

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Serves the requests of a connection one after another, however many are sent at once: each sees what those before it have done, and
 * at most one answer waits for a client that does not read. While one waits for its turn, no more are read.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
function inTurn(serve: Serve): Serve {
  const waiting = new WeakMap<Socket, number>();
  return function serveInTurn(incoming, outgoing) {
    const { socket } = incoming;
    if (outgoing.socket !== null) {
      serve(incoming, outgoing);
      return;
    }
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
    socket.pause();
    outgoing.once('socket', () => {
      const others = (waiting.get(socket) ?? 1) - 1;
      waiting.set(socket, others);
      if (others === 0) socket.resume();
      serve(incoming, outgoing);
    });
  };
}

/**
 * Makes the listener that hands Node's requests to the gateway. Its server has `requireHostHeader` off.
 *
 * @param hostname - stands in where an HTTP/1.0 client names no host
 */
export function createListener(
  gateway: Gateway,
  { hostname, logger }: { hostname: string; logger: Logger },
): RequestListener {
  const atEndOfTurn = createEndOfTurn<Response>();
  const listener = getRequestListener(
    (request, env) => {
      // Over HTTP/1 the bindings are Node's.
      const { incoming, outgoing } = env as HttpBindings;
      const peerAddress = incoming.socket.remoteAddress ?? '';
      const answer = gateway.fetch(request, { peerAddress, arrivedBody: () => takeBody(incoming) });
      return atEndOfTurn(outgoing.shouldKeepAlive ? answer : afterBody(incoming, answer));
    },
    {
      hostname,
      errorHandler(error) {
        if (error instanceof RequestError) return responseOf(malformed);
        logger.error({ cause: String(error) }, 'request failed outside its route');
        return responseOf(failed);
      },
    },
  );
  return inTurn((incoming, outgoing) => {
    if (lacksHost(incoming)) answerRefusal(outgoing, malformed);
    // The listener catches what it throws, in `errorHandler`. A short body has come in by the end of the turn, and need not be
    // read as a stream, which would cost more than all the rest of the listener.
    else if (takesBody(incoming)) setImmediate(listener, incoming, outgoing);
    else void listener(incoming, outgoing);
  });
}
