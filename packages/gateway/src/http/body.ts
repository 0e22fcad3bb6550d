import type { Fault, Parsed } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import { ApiError, bodyIncomplete, bodyTooLarge, notJson } from './errors.ts';

/** The body of a request that has none. */
export const NO_BODY = new Uint8Array(0);

/** Where a body comes from. */
export interface BodySource {
  readonly request: Request;
  /** Takes the whole body where it has come in already, which spares a stream; undefined where it has not. */
  readonly arrivedBody?: () => Uint8Array | undefined;
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

async function readWhole(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared === null) return request.body === null ? NO_BODY : await readStream(request.body, maxBytes);
  if (Number(declared) > maxBytes) throw bodyTooLarge(maxBytes);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

async function waitForBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readWhole(request, maxBytes);
  } catch (error) {
    throw error instanceof ApiError ? error : bodyIncomplete(error);
  }
}

/**
 * Reads a request's raw body, never more than the limit.
 *
 * @param maxBytes - limit in bytes
 * @throws ApiError BODY_TOO_LARGE; BODY_INCOMPLETE when the client went away or sent a broken chunk
 */
export function readBody({ request, arrivedBody }: BodySource, maxBytes: number): Awaitable<Uint8Array> {
  const arrived = arrivedBody?.();
  if (arrived === undefined) return waitForBody(request, maxBytes);
  if (arrived.byteLength > maxBytes) throw bodyTooLarge(maxBytes);
  return arrived;
}

const jsonType = /^application\/(?:json|[a-z0-9!#$&^_.+-]{1,64}\+json)[ \t]*(?:;|$)/i;

/**
 * Refuses a body that says it is something other than JSON.
 *
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE
 */
export function checkJsonType(request: Request, body: Uint8Array): void {
  const type = request.headers.get('content-type');
  if (body.byteLength > 0 && type !== null && type !== 'application/json' && !jsonType.test(type)) throw notJson();
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function refuse(message: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ path: 'body', message }] };
}

function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

function decodeJson(text: string): Parsed<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return refuse('expected JSON');
  }
}

/**
 * Parses a body as JSON, of a doubled key the last one counting, and then with a parser of its own.
 *
 * @param body - raw bytes
 * @param parse - from parsed JSON to a trusted value or faults
 * @returns the value, or the faults: no body, invalid UTF-8, a byte order mark, no JSON, or what `parse` found
 */
export function parseBody<T>(body: Uint8Array, parse: (json: unknown) => Parsed<T>): Parsed<T> {
  if (body.byteLength === 0) return refuse('required: expected a JSON object');
  const text = decodeUtf8(body);
  if (text === undefined) return refuse('expected JSON in UTF-8');
  if (text.charCodeAt(0) === 0xfeff) return refuse('expected JSON without a byte order mark');
  const json = decodeJson(text);
  return 'faults' in json ? json : parse(json.value);
}
