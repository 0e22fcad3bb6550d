import type { Awaitable } from '../ports/awaitable.ts';
import { ApiError, bodyIncomplete, bodyTooLarge } from './errors.ts';
import { NO_BODY, type TransportRequest } from './request.ts';

/** The connection's facts beside the request. */
export interface GatewayEnv {
  /** Address of the other end of the connection. */
  readonly peerAddress: string;
  /** The whole body, if it is at hand, which spares a stream. */
  readonly arrivedBody?: () => Uint8Array | undefined;
}

/** Splits a URL as it came, without decoding: the path is what relayers sign. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const hash = url.indexOf('#', start);
  const end = hash === -1 ? url.length : hash;
  const mark = url.indexOf('?', start);
  if (mark === -1 || mark > end) return { path: url.slice(start, end), query: '' };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

async function readStream(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

async function readWhole(raw: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = raw.headers.get('content-length');
  if (declared === null) return raw.body === null ? NO_BODY : await readStream(raw.body, maxBytes);
  if (Number(declared) > maxBytes) throw bodyTooLarge(maxBytes);
  const bytes = new Uint8Array(await raw.arrayBuffer());
  if (bytes.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function waitForBody(raw: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readWhole(raw, maxBytes);
  } catch (error) {
    throw error instanceof ApiError ? error : bodyIncomplete(error);
  }
}

/** Bytes of a body that has a declared length, is at hand, or is not there. */
function countAnnounced(request: Request, arrived: Uint8Array | undefined): number | undefined {
  const declared = request.headers.get('content-length');
  if (declared !== null) return Number(declared);
  if (arrived !== undefined) return arrived.byteLength;
  return request.body === null ? 0 : undefined;
}

/**
 * Reads a web platform's request as what a transport hands over.
 *
 * @param request - its URL's path is the one routed
 * @param env - what the connection shows
 */
export function readFetchRequest(request: Request, { peerAddress, arrivedBody }: GatewayEnv): TransportRequest {
  const arrived = arrivedBody?.();
  return {
    ...splitUrl(request.url),
    method: request.method,
    raw: request,
    peerAddress,
    signal: request.signal,
    announcedBytes: countAnnounced(request, arrived),
    readBody(maxBytes): Awaitable<Uint8Array> {
      if (arrived === undefined) return waitForBody(request, maxBytes);
      if (arrived.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
      return arrived;
    },
  };
}
