import { CORS_HEADERS, capFaults, type ErrorBody } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import type { GatewayPorts } from '../ports/gatewayPorts.ts';
import { describeCause } from './describeCause.ts';
import { type ApiError, toApiError } from './errors.ts';

/** A handler's answer, before the headers that every response carries are added. */
export interface HttpResponse {
  readonly status: number;
  /** A string is JSON unless `headers` say otherwise. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether its line is for the level `debug` alone: whoever polls would fill the log. */
  readonly isQuiet?: boolean;
}

/** A response with all its headers, for a transport to write. */
export interface WrittenResponse {
  readonly status: number;
  readonly body: HttpResponse['body'];
  /** Names and values in turn, each name in lower case and once. */
  readonly headers: readonly string[];
}

/** Headers of every response of the API: CORS as the specification has it, and nothing for a browser to run, guess or keep. */
const BODILESS_HEADERS: Readonly<Record<string, string>> = {
  ...CORS_HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The same with the type of every body but documents. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...BODILESS_HEADERS,
  'content-type': 'application/json; charset=utf-8',
};

/** Responds with a value as JSON. */
export function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, body: JSON.stringify(value) };
}

/**
 * Responds with what was made, and where it can be read.
 *
 * @param location - relative to the call's own URL, so that a stage prefix or base path stays
 */
export const createdResponse = (location: string, body: string): HttpResponse => ({
  ...{ status: 201, body, headers: { location } },
});

/** How soon whoever asked to wait should ask again, if nobody may wait, in seconds. */
export const ASK_AGAIN_SECONDS = 1;

/** Has an answer say when to ask again: its caller wanted to wait for another one. @see docs/specification.md WAIT-3 */
export function askAgain(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, 'retry-after': String(ASK_AGAIN_SECONDS) } };
}

/**
 * Writes an error as the wire's `{ error, code, details? }`.
 *
 * @see docs/specification.md ERROR-1
 */
export function errorResponse(error: ApiError): HttpResponse {
  const body: ErrorBody = { error: error.message, code: error.code };
  if (error.details !== undefined) body.details = [...capFaults(error.details)];
  const response = jsonResponse(error.status, body);
  return error.headers === undefined ? response : { ...response, headers: error.headers };
}

/**
 * Goes on with a value, at once if it is there.
 *
 * @throws what `next` throws, if the value is there; else the promise rejects with it
 */
export function andThen<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The facts about an HTTP request before it is routed, and those that its response will need. */
export interface RequestContext {
  /** Value of `X-Request-Id`. */
  readonly id: string;
  readonly method: string;
  /** Path template, or `unmatched`; the log's and the metrics' name of the route. */
  readonly route: string;
  readonly peer: string;
  /** `performance.now()` when it arrived. */
  readonly startedAt: number;
  /** How long it has waited for something to happen, in milliseconds: no work of ours. */
  waitedMs: number;
  /** `RateLimit` headers, once a limit has counted it. */
  limitHeaders: Readonly<Record<string, string>> | undefined;
}

type RespondPorts = Pick<GatewayPorts, 'metrics' | 'logger'>;

const MS_PER_SECOND = 1000;
const roundMs = (ms: number) => Math.round(ms * 100) / 100;

function logError(ports: RespondPorts, context: RequestContext, error: ApiError): void {
  ports.logger.error(
    { requestId: context.id, route: context.route, code: error.code, cause: describeCause(error.cause) },
    'request failed',
  );
}

/** Counts and logs a request that has its response. */
export function recordResponse(ports: RespondPorts, context: RequestContext, status: number, isQuiet = false): void {
  const { id: requestId, method, route, peer } = context;
  const ms = performance.now() - context.startedAt;
  const { waitedMs } = context;
  ports.metrics.answered({ method, route, status, seconds: (ms - waitedMs) / MS_PER_SECOND });
  const facts = { requestId, method, route, status, ms: roundMs(ms), peer };
  ports.logger[isQuiet ? 'debug' : 'info'](
    waitedMs === 0 ? facts : { ...facts, waitedMs: roundMs(waitedMs) },
    'request',
  );
}

/**
 * Runs a handler and writes its response, or the error it threw, with the headers that every response carries.
 *
 * @param act - the handler; whatever it throws becomes `{ error, code, details? }`
 */
export function respond(
  ports: RespondPorts,
  context: RequestContext,
  act: (context: RequestContext) => Awaitable<HttpResponse>,
): Awaitable<WrittenResponse> {
  const refuse = (thrown: unknown): HttpResponse => {
    const error = toApiError(thrown);
    if (error.status >= 500) logError(ports, context, error);
    return errorResponse(error);
  };
  let response: Awaitable<HttpResponse>;
  try {
    response = act(context);
  } catch (thrown) {
    response = refuse(thrown);
  }
  const settled = response instanceof Promise ? response.catch(refuse) : response;
  return andThen(settled, (known) => writeResponse(ports, context, known));
}

/** Names and values in turn: what Node writes fastest. */
const flatten = (headers: Readonly<Record<string, string>>) => Object.entries(headers).flat();
const FLAT_API_HEADERS = flatten(API_HEADERS);
const FLAT_BODILESS_HEADERS = flatten(BODILESS_HEADERS);

function writeResponse(
  ports: RespondPorts,
  context: RequestContext,
  { status, body, headers, isQuiet }: HttpResponse,
): WrittenResponse {
  recordResponse(ports, context, status, isQuiet);
  const { id, limitHeaders } = context;
  if (headers !== undefined) {
    const base = body === null ? BODILESS_HEADERS : API_HEADERS;
    return { status, body, headers: flatten({ ...base, 'x-request-id': id, ...limitHeaders, ...headers }) };
  }
  const list = (body === null ? FLAT_BODILESS_HEADERS : FLAT_API_HEADERS).concat('x-request-id', id);
  for (const name in limitHeaders) list.push(name, limitHeaders[name] ?? '');
  return { status, body, headers: list };
}

/** Writes a response as a web platform's `Response`. */
export function toFetchResponse({ status, body, headers }: WrittenResponse): Response {
  const pairs = new Headers();
  for (let i = 0; i + 1 < headers.length; i += 2) pairs.set(headers[i] ?? '', headers[i + 1] ?? '');
  return new Response(body, { status, headers: pairs });
}
