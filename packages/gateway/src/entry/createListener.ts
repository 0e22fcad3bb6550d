import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { ByteBudget, ByteHold } from '../http/createByteBudget.ts';
import type { Answering } from '../http/createRouter.ts';
import { findPeer } from '../http/request.ts';
import type { WrittenResponse } from '../http/response.ts';
import type { Logger } from '../ports/logger.ts';
import { countHeadBytes } from './countHeadBytes.ts';
import { createPeerTurns } from './createPeerTurns.ts';
import { readNodeRequest, readTarget, type Target } from './readNodeRequest.ts';
import { serveInTurn } from './serveInTurn.ts';
import {
  answerRefusal,
  failed,
  malformed,
  type Refusal,
  refuseRequest,
  responseOf,
  tooManyFields,
} from './transport.ts';

/** Does things at the end of the turn of the event loop in which they came. */
export type AtEndOfTurn = (act: () => void) => void;

/**
 * Makes the holding back. Answers that are written one after another wake the process that waits for them once; written each as soon
 * as it is made, with work between them, they wake it each time, which costs the writer more than the answer.
 *
 * @returns the function; acts are done in the order in which they came
 */
export function createEndOfTurn(): AtEndOfTurn {
  let held: (() => void)[] = [];

  function release(): void {
    const ready = held;
    held = [];
    for (const act of ready) act();
  }

  return (act) => {
    if (held.length === 0) setImmediate(release);
    held.push(act);
  };
}

/** Node would refuse it without a word of ours. @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2 */
const lacksHost = ({ headers, httpVersion }: IncomingMessage) => headers.host === undefined && httpVersion === '1.1';

/** Most header fields: those of a browser and of five proxies are half as many. Each takes a hundred bytes beside its text. */
const MAX_FIELDS = 100;
/** Names and values stand in turn. */
const hasTooManyFields = ({ rawHeaders }: IncomingMessage) => rawHeaders.length > 2 * MAX_FIELDS;

const takesBody = ({ method }: IncomingMessage) => method === 'POST' || method === 'PATCH';

/** Bounds on the memory that strangers' requests take. */
export interface MemoryBudgets {
  /** Bodies that have not come in wholly. */
  readonly bodies: ByteBudget;
  /** Answers that their clients have not read yet. */
  readonly answers: ByteBudget;
  /** Calls that wait, for those before them on their connection or for something to happen. */
  readonly calls: ByteBudget;
}

/** How long the rest of a body is waited for that nobody wants, in milliseconds. */
const LINGER_MS = 1000;
/** Statuses from which an answer reports a failure. */
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
 * Holds an answer back until the request's body has come in, if the connection ends with the answer: to close it on bytes
 * that are still coming resets it, and the client may lose the end of an answer that it has not read yet.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
async function afterBody<T>(incoming: IncomingMessage, answer: T | Promise<T>): Promise<T> {
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
function writeAnswer(
  { incoming, outgoing }: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  { status, body, headers }: WrittenResponse,
  answers: ByteBudget,
): void {
  if (outgoing.destroyed || outgoing.headersSent || !incoming.socket.writable) return;
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
function endsWhileComing(incoming: IncomingMessage, outgoing: ServerResponse, status: number): boolean {
  if (!isStillComing(incoming)) return false;
  // Nobody waits for the whole of a body that was refused.
  if (status >= FIRST_FAILURE) outgoing.shouldKeepAlive = false;
  return !outgoing.shouldKeepAlive;
}

interface ListenerContext extends MemoryBudgets {
  /** Stands in if an HTTP/1.0 client names no host. */
  readonly hostname: string;
  readonly trustedProxyHops: number;
  readonly logger: Logger;
}

/** Most bytes of a file that are in memory while it is sent: the chunk that is being written, and the next one. */
const STREAMED_BYTES = 131_072;

/** Makes what hands requests to the gateway's mounts, which speak the web platform's requests and responses. */
function createMountListener(gateway: Answering, { hostname, logger, answers }: ListenerContext): RequestListener {
  return getRequestListener(
    (request, env) => {
      // Over HTTP/1 the bindings are Node's.
      const { incoming, outgoing } = env as HttpBindings;
      const hold = answers.open(() => incoming.socket.destroy());
      outgoing.once('close', hold.release);
      hold.grow(STREAMED_BYTES);
      const answer = gateway.fetch(request, { peerAddress: incoming.socket.remoteAddress ?? '' });
      return outgoing.shouldKeepAlive ? answer : afterBody(incoming, answer);
    },
    {
      hostname,
      // Its own Response is quicker, lacks `bytes()`, and would stand in the place of Node's in the whole process.
      overrideGlobalObjects: false,
      errorHandler(error) {
        if (error instanceof RequestError) return responseOf(malformed);
        logger.error({ cause: String(error) }, 'request failed outside its route');
        return responseOf(failed);
      },
    },
  );
}

/**
 * Makes the listener that hands Node's requests to the gateway. Its server has `requireHostHeader` off.
 */
export function createListener(gateway: Answering, context: ListenerContext): RequestListener {
  const { bodies, answers, calls, logger, trustedProxyHops } = context;
  const atEndOfTurn = createEndOfTurn();
  const turns = createPeerTurns(() => performance.now());
  const serveMount = createMountListener(gateway, context);

  function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: WrittenResponse): void {
    const characters = answer.body?.length ?? 0;
    function writeNow(): void {
      const written = turns.rendered(characters);
      atEndOfTurn(() => {
        written();
        writeAnswer({ incoming, outgoing }, answer, answers);
      });
    }
    if (endsWhileComing(incoming, outgoing, answer.status)) {
      const hold = answers.open(() => incoming.socket.destroy());
      hold.grow(characters);
      void afterBody(incoming, undefined).then(() => {
        hold.release();
        writeNow();
      });
    } else writeNow();
  }

  /** Behind proxies, the client that they name. */
  function peerOf({ socket, headers }: IncomingMessage): string {
    const address = socket.remoteAddress ?? '';
    if (trustedProxyHops === 0) return address;
    const forwardedFor = headers['x-forwarded-for'];
    return findPeer(address, typeof forwardedFor === 'string' ? forwardedFor : null, trustedProxyHops);
  }

  /** Holds the head of a call that waits. */
  function holdCall(incoming: IncomingMessage): ByteHold {
    // Nobody will read it.
    if (isStillComing(incoming)) incoming.resume();
    const hold = calls.open(() => incoming.socket.destroy());
    hold.grow(countHeadBytes(incoming));
    return hold;
  }

  function answerTarget(target: Target, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const writeKnown = (known: WrittenResponse) => write(incoming, outgoing, known);
    const answer = gateway.answer(readNodeRequest(incoming, { target, bodies }));
    if (!(answer instanceof Promise)) {
      writeKnown(answer);
      return;
    }
    if (!takesBody(incoming)) outgoing.once('close', holdCall(incoming).release);
    answer.then(writeKnown, (error: unknown) => {
      logger.error({ cause: String(error) }, 'request failed outside its route');
      answerRefusal(outgoing, failed);
    });
  }

  function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const target = readTarget(incoming);
    if (target === undefined) answerRefusal(outgoing, malformed);
    else if (gateway.findMount(target.path) !== undefined) void serveMount(incoming, outgoing);
    else answerTarget(target, incoming, outgoing);
  }

  const next = serveInTurn((incoming, outgoing) => {
    if (lacksHost(incoming)) answerRefusal(outgoing, malformed);
    else if (hasTooManyFields(incoming)) answerRefusal(outgoing, tooManyFields);
    // A short body has come in by the end of the turn, and need not be gathered, which would cost more than all the rest of the
    // listener.
    else if (takesBody(incoming)) setImmediate(serve, incoming, outgoing);
    else turns.serve(peerOf(incoming), () => serve(incoming, outgoing));
  }, calls);
  return (incoming, outgoing) => {
    boundPieces(incoming);
    next(incoming, outgoing);
  };
}

/** Fewest bytes of a piece, on average: a client that writes JSON name by name sends more. */
const LEAST_BYTES = 16;
/** So many pieces may be smaller. */
const SMALL_PIECES = 512;

const tooManyPieces: Refusal = {
  code: 'BODY_TOO_LARGE',
  message: `The body comes in too many pieces: send chunks of at least ${LEAST_BYTES} bytes.`,
};

/**
 * Refuses a body whose chunks are tiny. Each piece is a call of the parser's and a buffer of some hundred bytes, whoever reads it, also
 * if nobody does: a megabyte of chunks of one byte took as long as ten thousand usual calls.
 *
 * @see docs/specification.md LIMIT-18
 */
function boundPieces(incoming: IncomingMessage): void {
  if (incoming.headers['transfer-encoding'] === undefined) return;
  const push = incoming.push.bind(incoming);
  let left = SMALL_PIECES * LEAST_BYTES;
  let isRefused = false;
  // The parser hands each piece to it.
  incoming.push = (piece: Uint8Array | null, encoding?: BufferEncoding) => {
    if (isRefused) return false;
    left += (piece?.byteLength ?? LEAST_BYTES) - LEAST_BYTES;
    if (left >= 0) return push(piece, encoding);
    isRefused = true;
    refuseRequest(incoming, tooManyPieces);
    return false;
  };
}
