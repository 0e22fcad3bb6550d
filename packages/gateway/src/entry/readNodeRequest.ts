import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget } from '../http/createByteBudget.ts';
import { bodyIncomplete, bodyTooLarge, overloaded } from '../http/errors.ts';
import { type HeaderReader, NO_BODY, type TransportRequest } from '../http/request.ts';
import type { Awaitable } from '../ports/awaitable.ts';

/** Targets that a URL's parser would leave as they are, but for dot segments. @see https://url.spec.whatwg.org/#path-state */
const plainTarget = /^\/[!$&-;=?-[\]_a-z~]*$/;
const dotSegment = /\/\.\.?(?:[/?]|$)/;
const plainHost = /^[a-z0-9._-]+(?::(?:\d{1,4}|[1-5]\d{4}))?$/i;
const absoluteTarget = /^https?:\/\//;

/** Whether a `Host` names a host, and perhaps a port, and nothing else. */
function isHost(host: string): boolean {
  if (plainHost.test(host)) return true;
  const url = URL.parse(`http://${host}/`);
  return url !== null && url.hostname === host.replace(/:\d+$/, '').toLowerCase();
}

/** The path and query that are routed by. */
export type Target = Pick<TransportRequest, 'path' | 'query'>;

function splitTarget(target: string): Target {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** Parses what is no plain path, as a browser would. A backslash in it would be taken for a slash by some and not by others. */
function parseTarget(target: string): Target | undefined {
  if (splitTarget(target).path.includes('\\')) return undefined;
  const url = URL.parse(absoluteTarget.test(target) ? target : `http://host${target}`);
  return url === null ? undefined : { path: url.pathname, query: url.search.slice(1) };
}

/**
 * Reads a request's target as the path and query that are routed by.
 *
 * @returns undefined if target or `Host` are none
 * @see docs/specification.md AUTH-3
 */
export function readTarget({ url: target = '', headers: { host } }: IncomingMessage): Target | undefined {
  if (target.startsWith('/')) {
    if (host !== undefined && !isHost(host)) return undefined;
    return plainTarget.test(target) && !dotSegment.test(target) ? splitTarget(target) : parseTarget(target);
  }
  return absoluteTarget.test(target) ? parseTarget(target) : undefined;
}

/** The whole body, if all of it has come in; it can be taken once. */
function takeBody(incoming: IncomingMessage): Uint8Array | undefined {
  if (!incoming.complete || incoming.destroyed || incoming.readableDidRead) return undefined;
  // Nobody has set an encoding, so bytes are read.
  const body: Buffer | null = incoming.read();
  return body ?? NO_BODY;
}

function countAnnounced({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** The signals of connections: a client that keeps one open and waits again and again leaves one listener on it, not one a call. */
const signals = new WeakMap<Socket, AbortSignal>();

/** Makes the signal that a handler may ask for: few do. Who listens to it takes the listener away again: it outlives the call. */
function followClient({ socket }: IncomingMessage): AbortSignal {
  // A request is closed when it has come in; its connection, when the client has gone.
  if (socket.destroyed) return AbortSignal.abort();
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  signals.set(socket, gone.signal);
  return gone.signal;
}

/** The headers of a request; one that was sent twice if that is not allowed is none. */
class NodeHeaders implements HeaderReader {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | null {
    const value = this.#headers[name];
    return typeof value === 'string' ? value : null;
  }
}

interface RequestParts {
  readonly target: Target;
  readonly bodies: ByteBudget;
}

/** A class: the engine makes each object literal with an accessor a table of its own, which cost more than a third of a read. */
class NodeRequest implements TransportRequest {
  readonly path: string;
  readonly query: string;
  readonly method: string;
  readonly raw: TransportRequest['raw'];
  readonly peerAddress: string;
  readonly announcedBytes: number | undefined;
  readonly #incoming: IncomingMessage;
  readonly #bodies: ByteBudget;
  #signal: AbortSignal | undefined = undefined;

  constructor(incoming: IncomingMessage, { target, bodies }: RequestParts) {
    this.path = target.path;
    this.query = target.query;
    // Node sets it on every request of a server.
    this.method = incoming.method ?? '';
    this.raw = { headers: new NodeHeaders(incoming.headers) };
    this.peerAddress = incoming.socket.remoteAddress ?? '';
    this.announcedBytes = countAnnounced(incoming);
    this.#incoming = incoming;
    this.#bodies = bodies;
  }

  get signal(): AbortSignal {
    this.#signal ??= followClient(this.#incoming);
    return this.#signal;
  }

  readBody(maxBytes: number): Awaitable<Uint8Array> {
    const arrived = takeBody(this.#incoming);
    if (arrived === undefined) return gatherBody(this.#incoming, { maxBytes, budget: this.#bodies });
    if (arrived.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
    return arrived;
  }
}

/**
 * Reads a request of Node's server as what the gateway answers.
 *
 * @param incoming - its target is one, see `readTarget`
 * @param parts - the target, and the budget of bodies under way
 */
export function readNodeRequest(incoming: IncomingMessage, parts: RequestParts): TransportRequest {
  return new NodeRequest(incoming, parts);
}

interface BodyBounds {
  /** Most bytes of this body. */
  readonly maxBytes: number;
  /** Shared by all bodies under way. */
  readonly budget: ByteBudget;
}

/** Pieces that are joined as they come: kept each by itself, a piece of one byte would cost some hundred. */
interface JoinedPieces {
  /** Bytes of all pieces. */
  length(): number;
  /** @returns how many more bytes of memory are held */
  add(piece: Uint8Array): number;
  whole(): Uint8Array;
  drop(): void;
}

/** @param maxBytes - of all pieces, which nobody adds more than */
function joinPieces(maxBytes: number): JoinedPieces {
  let bytes = new Uint8Array(0);
  let length = 0;
  return {
    length: () => length,
    add(piece) {
      const before = bytes.byteLength;
      const wanted = length + piece.byteLength;
      if (wanted > before) {
        // Twice as much each time, so that few are copied.
        const larger = new Uint8Array(Math.max(wanted, Math.min(2 * before, maxBytes)));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(piece, length);
      length = wanted;
      return bytes.byteLength - before;
    },
    whole: () => bytes.subarray(0, length),
    drop() {
      bytes = new Uint8Array(0);
    },
  };
}

/**
 * Gathers a body as it comes in.
 *
 * @throws ApiError BODY_TOO_LARGE, BODY_INCOMPLETE, OVERLOADED
 */
function gatherBody(incoming: IncomingMessage, { maxBytes, budget }: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const joined = joinPieces(maxBytes);
    const leave = () => {
      hold.release();
      incoming.off('data', take).off('end', finish).off('error', breakOff).off('close', breakOff);
    };
    const refuse = (error: Error) => {
      leave();
      joined.drop();
      // The rest is dropped, so that the connection can go on to the next request or to its end.
      incoming.on('error', () => undefined).resume();
      reject(error);
    };
    const hold = budget.open(() => refuse(overloaded()));
    const take = (piece: Uint8Array) => {
      if (joined.length() + piece.byteLength > maxBytes) return refuse(bodyTooLarge(maxBytes));
      return hold.grow(joined.add(piece));
    };
    const finish = () => {
      leave();
      resolve(joined.whole());
    };
    const breakOff = (cause?: Error) => refuse(bodyIncomplete(cause ?? new Error('The client went away.')));
    if (incoming.destroyed) return breakOff(incoming.errored ?? undefined);
    incoming.on('data', take).on('end', finish).on('error', breakOff).on('close', breakOff);
  });
}
