import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERROR_CODES, type ErrorCode } from '@prism-gateway/protocol';
import { API_HEADERS } from '../http/response.ts';

/** The answer if no route can answer. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The answer to what cannot be read as a request. */
export const malformed: Refusal = { code: 'REQUEST_MALFORMED', message: 'This is not a well-formed HTTP request.' };
/** The answer if the answering itself has failed. */
export const failed: Refusal = { code: 'UNEXPECTED', message: 'Something went wrong here.' };
const unexpectedExpectation: Refusal = {
  code: 'EXPECTATION_FAILED',
  message: 'The only expectation that is met is 100-continue.',
};

/** The answer to a head of too many fields: each costs more than its text. */
export const tooManyFields: Refusal = { code: 'HEADERS_TOO_LARGE', message: 'There are more than 100 header fields.' };

const noTunnel: Refusal = { code: 'METHOD_NOT_ALLOWED', message: 'CONNECT is not allowed here.' };

/** Answers to what Node's parser refuses, by its error's code. */
const refusalOf: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { code: 'HEADERS_TOO_LARGE', message: 'The headers are larger than 16384 bytes.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { code: 'BODY_TOO_LARGE', message: 'The chunk extensions are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'REQUEST_TOO_SLOW', message: 'The request took too long to arrive.' },
};

const bodyOf = ({ code, message }: Refusal) => JSON.stringify({ error: message, code });
const statusOf = ({ code }: Refusal): number => ERROR_CODES[code][0];

/** A refusal as a response, for whoever writes it. */
export function responseOf(refusal: Refusal): Response {
  return new Response(bodyOf(refusal), { status: statusOf(refusal), headers: API_HEADERS });
}

/** Writes a refusal straight to a connection on which there is no request yet. */
function writeRefusal(socket: Socket, refusal: Refusal): void {
  const body = bodyOf(refusal);
  const headers = { ...API_HEADERS, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = statusOf(refusal);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** The answer that a connection waits for or is sending. */
function answerOn(socket: Socket): ServerResponse | undefined {
  // Node keeps it here.
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return answer ?? undefined;
}

/** Ends a connection with the answer that it has to give. */
function closeAfter(answer: ServerResponse, socket: Socket): void {
  if (answer.headersSent) answer.once('finish', () => socket.end());
  else answer.shouldKeepAlive = false;
}

/** Whether an upload is under way, whose pace its receiver watches: the time that other requests have is too short for it. */
const isUpload = (answer: ServerResponse | undefined) =>
  answer?.req.method === 'PUT' && !answer.req.complete && !answer.headersSent;

/** Refuses what cannot be read as a request. A whole one that came before it gets its own answer, and nothing more is said. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  const answer = answerOn(socket);
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUpload(answer)) return;
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else if (answer?.req.complete === true) closeAfter(answer, socket);
  else if (answer?.headersSent === true) socket.destroy();
  else writeRefusal(socket, refusalOf[error.code ?? ''] ?? malformed);
}

/** Ends a connection that has stood still: the request is late, or nobody reads its answer. */
function refuseStalled(socket: Socket): void {
  const answer = answerOn(socket);
  if (answer === undefined || answer.headersSent || answer.req.complete) socket.destroy();
  else writeRefusal(socket, refusalOf.ERR_HTTP_REQUEST_TIMEOUT ?? malformed);
}

/** Refuses a request that is still coming in, if nothing was said to it yet, and ends its connection: none of the rest is waited for. */
export function refuseRequest(incoming: IncomingMessage, refusal: Refusal): void {
  const { socket } = incoming;
  const answer = answerOn(socket);
  if (answer?.req !== incoming || answer.headersSent || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.once('finish', () => socket.destroy());
  writeRefusal(socket, refusal);
}

/** Answers a request with a refusal, and ends its connection. */
export function answerRefusal(outgoing: ServerResponse, refusal: Refusal): void {
  const body = bodyOf(refusal);
  outgoing.writeHead(statusOf(refusal), {
    ...API_HEADERS,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  outgoing.end(body);
}

/** How long a connection may stand still while it has something to say or to hear, in milliseconds: longer than any handler takes. */
const STALLED_MS = 90_000;

/**
 * Gives what never becomes a request the API's error shape too, answers who has said all, and ends what stands still.
 *
 * @param stalledMs - how long a connection may stand still, in milliseconds; default 90,000
 */
export function prepareServer(server: Server, stalledMs = STALLED_MS): void {
  // Without this, Node takes a client that has ended its side for one that has gone.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.setTimeout(stalledMs, refuseStalled);
  // Node's own end of a connection for which the whole of it would be a tunnel.
  server.on('connect', (_incoming, socket) => writeRefusal(socket as Socket, noTunnel));
  // A server's clientError always comes with a net.Socket.
  server.on('clientError', (error, socket) => refuseMalformed(error, socket as Socket));
  server.on('checkExpectation', (_incoming, outgoing) => answerRefusal(outgoing, unexpectedExpectation));
}
