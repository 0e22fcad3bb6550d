import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { Gateway } from '../app.ts';
import { NO_BODY } from '../http/body.ts';
import { API_HEADERS } from '../http/headers.ts';
import type { Logger } from '../ports/logger.ts';
import { afterBody } from './afterBody.ts';
import { createEndOfTurn } from './endOfTurn.ts';

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

const malformed: Refusal = { status: 400, reason: 'Bad Request', message: 'This is not a well-formed HTTP request.' };
const failed: Refusal = { status: 500, reason: 'Internal Server Error', message: 'Something went wrong here.' };
const unexpectedExpectation: Refusal = {
  status: 417,
  reason: 'Expectation Failed',
  message: 'The only expectation that is met is 100-continue.',
};

/** Answers to what Node's parser refuses, by its error's code. */
const refusalOf: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: 'The headers are larger than 16384 bytes.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    reason: 'Content Too Large',
    message: 'The chunk extensions are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: 'Request Timeout', message: 'The request took too long to arrive.' },
};

const bodyOf = ({ message }: Refusal) => JSON.stringify({ error: message });

function responseOf(refusal: Refusal): Response {
  return new Response(bodyOf(refusal), { status: refusal.status, headers: API_HEADERS });
}

/** Writes a refusal straight to a connection on which there is no request yet. */
function writeRefusal(socket: Socket, refusal: Refusal): void {
  const body = bodyOf(refusal);
  const headers = { ...API_HEADERS, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${refusal.status} ${refusal.reason}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Whether an answer is already on its way on this connection, so that nothing may be put between. */
function isAnswering(socket: Socket): boolean {
  // Node keeps the current answer here; without the field nothing has begun.
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return answer?.headersSent === true;
}

function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy();
  else writeRefusal(socket, refusalOf[error.code ?? ''] ?? malformed);
}

function answerRefusal(outgoing: ServerResponse, refusal: Refusal): void {
  const body = bodyOf(refusal);
  outgoing.writeHead(refusal.status, {
    ...API_HEADERS,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  outgoing.end(body);
}

/** Node would refuse it without a word of ours. @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
const lacksHost = ({ headers, httpVersion }: IncomingMessage) => headers.host === undefined && httpVersion === '1.1';

/** Gives what never becomes a request the API's error shape too. */
export function refuseBrokenRequests(server: Server): void {
  // A server's clientError always comes with a net.Socket.
  server.on('clientError', (error, socket) => refuseMalformed(error, socket as Socket));
  server.on('checkExpectation', (_incoming, outgoing) => answerRefusal(outgoing, unexpectedExpectation));
}

const takesBody = ({ method }: IncomingMessage) => method === 'POST' || method === 'PATCH';

/** The whole body, where all of it has come in; it can be taken once. */
function takeBody(incoming: IncomingMessage): Uint8Array | undefined {
  if (!incoming.complete || incoming.destroyed || incoming.readableDidRead) return undefined;
  // Nobody has set an encoding, so bytes are read.
  const body: Buffer | null = incoming.read();
  return body ?? NO_BODY;
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
  return (incoming, outgoing) => {
    if (lacksHost(incoming)) answerRefusal(outgoing, malformed);
    // The listener catches what it throws, in `errorHandler`. A short body has come in by the end of the turn, and need not be
    // read as a stream, which would cost more than all the rest of the listener.
    else if (takesBody(incoming)) setImmediate(listener, incoming, outgoing);
    else void listener(incoming, outgoing);
  };
}
