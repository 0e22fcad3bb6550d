import { createHash, timingSafeEqual } from 'node:crypto';
import { ERROR_CODES, type ErrorCode, type Fault } from '@prism-gateway/protocol';
import type { Revocations } from './createRevocations.ts';
import type { DevelopmentKey } from './loadOrCreateKey.ts';
import { hasErrorCode } from './loadOrCreateKey.ts';

/** An HTTP request that the development issuer refuses; `createDevIssuer` turns it into `{ error, code, details? }`. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param sentence - for the caller
   * @param facts - `code`: of a 4xx; `details` of a validation error; `headers` that the status asks for
   */
  constructor(
    sentence: string,
    facts: {
      readonly code: ErrorCode;
      readonly details?: readonly Fault[];
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    super(sentence);
    this.code = facts.code;
    [this.status] = ERROR_CODES[facts.code];
    this.details = facts.details;
    this.headers = facts.headers ?? {};
  }
}

/** The app as the development issuer knows it. */
export interface Client {
  readonly appId: string;
  readonly appSecret: string;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The form encoding that RFC 6749, section 2.3.1 puts on each half; undefined if it is broken. */
function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function parseBasic(header: string): Client | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [id, ...rest] = Buffer.from(encoded, 'base64').toString().split(':');
  const appId = formDecode(id ?? '');
  const appSecret = formDecode(rest.join(':'));
  return appId === undefined || appSecret === undefined ? undefined : { appId, appSecret };
}

/**
 * Checks HTTP Basic credentials in a time that does not depend on how much of them is right.
 *
 * @param client - the right ones
 * @param header - value of `Authorization`, or null
 * @throws RefusalError 401
 */
export function requireClient(client: Client, header: string | null): void {
  const given = header === null ? undefined : parseBasic(header);
  const sameId = timingSafeEqual(digest(given?.appId ?? ''), digest(client.appId));
  const sameSecret = timingSafeEqual(digest(given?.appSecret ?? ''), digest(client.appSecret));
  if (given !== undefined && sameId && sameSecret) return;
  throw new RefusalError('The app id or the app secret is wrong or missing.', {
    code: 'CLIENT_REJECTED',
    headers: { 'www-authenticate': 'Basic realm="development issuer"' },
  });
}

/** Shared by the development issuer's endpoints. */
export interface DevIssuerContext extends Client {
  /** Issuer identifier: the URL under which the issuer is mounted, no slash at its end. */
  readonly issuer: string;
  readonly key: () => Promise<DevelopmentKey>;
  readonly revocations: Revocations;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes a UUID. */
  readonly newId: () => string;
}

/** Tokens are the largest thing sent here, and they end at 16 kB. */
const MAX_BODY_BYTES = 64 * 1024;

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  // Invalid UTF-8 and a byte order mark are faults, as in the rest of the API.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES)
      throw new RefusalError(`The body is larger than ${MAX_BODY_BYTES} bytes.`, { code: 'BODY_TOO_LARGE' });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Reads a small text body of one content type; a body without a content type is taken for it.
 *
 * @param request - the HTTP request
 * @param contentType - like `application/json`
 * @returns the body's text
 * @throws RefusalError 413, 415, or 400 for text that is not UTF-8
 */
export async function readBody(request: Request, contentType: string): Promise<string> {
  const given = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  // fetch writes text/plain by itself if the caller said nothing; that is still something said.
  if (given !== undefined && given !== contentType)
    throw new RefusalError(`The body must be ${contentType}.`, { code: 'UNSUPPORTED_MEDIA_TYPE' });
  if (request.body === null) return '';
  try {
    return await readBounded(request.body);
  } catch (error) {
    if (hasErrorCode(error, ['ERR_ENCODING_INVALID_ENCODED_DATA']))
      throw new RefusalError('The body is not valid UTF-8.', { code: 'VALIDATION_FAILED' });
    throw error;
  }
}
