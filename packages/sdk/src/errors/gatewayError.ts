import type { ErrorBody } from '@prism-gateway/protocol';

/** What went wrong with a call to the gateway, as a program matches it. */
export type GatewayErrorCode =
  /** 400: `details` names each fault. */
  | 'VALIDATION_FAILED'
  /** 401: the key, token or signature was not accepted. */
  | 'UNAUTHORISED'
  /** 403: a presigned URL was refused. */
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  /** 409: the request is not in the state that the call needs, or another relayer holds it. */
  | 'CONFLICT'
  | 'BODY_TOO_LARGE'
  /** 429: `retryAfterMs` says when to come again. */
  | 'RATE_LIMITED'
  /** 5xx: try again later. */
  | 'UNAVAILABLE'
  /** No answer, or only a part of one. */
  | 'NETWORK_FAILED'
  /** The caller's `AbortSignal` fired. */
  | 'ABORTED'
  /** `waitForRequest` ran out of its time; the request itself goes on. */
  | 'WAIT_TIMED_OUT'
  /** An answer that no gateway gives: is the URL right? */
  | 'UNEXPECTED_ANSWER';

/** One fault of a refused body or query. */
export interface GatewayFault {
  /** Like `params.dataIds[2]`. */
  readonly path: string;
  readonly message: string;
}

/** What a gateway error is built from. */
export interface GatewayErrorFacts {
  readonly code: GatewayErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly details?: readonly GatewayFault[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly mayHaveHappened?: boolean;
  readonly cause?: unknown;
}

/**
 * A call to the gateway failed. Match by `code`; the message is for people, and holds no key, token, signature or presigned URL.
 *
 * @see docs/specification.md ERROR-1
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  declare readonly code: GatewayErrorCode;
  /** HTTP status, where there was an answer. */
  declare readonly status: number | undefined;
  /** Every fault of a body or query that was not valid; else empty. */
  declare readonly details: readonly GatewayFault[];
  /** How long the gateway asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  /** The answer's `X-Request-Id`: what an operator finds the call by. */
  declare readonly requestId: string | undefined;
  /** Whether the gateway may have done what was asked all the same: true where the answer was lost. */
  declare readonly mayHaveHappened: boolean;

  constructor({ message, cause, details = [], mayHaveHappened = false, ...facts }: GatewayErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { details, mayHaveHappened, ...facts });
  }
}

/** Tells whether a caught value is a `GatewayError` of one of some codes. */
export function isGatewayError(error: unknown, ...codes: readonly GatewayErrorCode[]): error is GatewayError {
  return error instanceof GatewayError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Makes the error for an answer that no gateway gives.
 *
 * @param what - the call in words, like `POST /requests`
 * @param lack - what the answer is not, like `JSON`
 */
export function unexpectedAnswer(what: string, lack: string, cause?: unknown): GatewayError {
  const message = `The answer to ${what} is no ${lack}. Is this the URL of a gateway?`;
  return new GatewayError({ code: 'UNEXPECTED_ANSWER', message, mayHaveHappened: true, cause });
}

/** Failures of Node's fetch that come before a byte of the call has gone out; a browser does not say. */
const unsentCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function wasSent(failure: unknown): boolean {
  // `Object` makes something to look into of whatever was thrown.
  return !unsentCodes.has(Object(Object(failure).cause).code);
}

/**
 * Makes the error for a call whose caller has lost interest.
 *
 * @param what - the call in words, like `POST /requests`
 */
export function abortedError(what: string, signal: AbortSignal, mayHaveHappened: boolean): GatewayError {
  const message = `${what} was aborted by its caller.`;
  return new GatewayError({ code: 'ABORTED', message, mayHaveHappened, cause: signal.reason });
}

/**
 * Makes the error for a call that got no whole answer.
 *
 * @param failure - what fetch, or reading the body, threw
 * @param call.what - the call in words, like `POST /requests`
 */
export function errorFromFailure(
  failure: unknown,
  call: { readonly what: string; readonly signal?: AbortSignal | undefined },
): GatewayError {
  if (failure instanceof GatewayError) return failure;
  if (call.signal?.aborted) return abortedError(call.what, call.signal, true);
  const isTimeout = Object(failure).name === 'TimeoutError';
  const why = isTimeout ? 'it took too long' : 'the network failed, or the gateway is not there';
  const message = `${call.what} got no whole answer: ${why}.`;
  return new GatewayError({ code: 'NETWORK_FAILED', message, mayHaveHappened: wasSent(failure), cause: failure });
}

/** Codes of the statuses that have one of their own. */
const codes: Readonly<Record<number, GatewayErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHORISED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'BODY_TOO_LARGE',
  429: 'RATE_LIMITED',
};

function codeOf(status: number): GatewayErrorCode {
  return codes[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'UNEXPECTED_ANSWER');
}

function readBody(body: Uint8Array): Partial<ErrorBody> {
  try {
    // `null` and numbers are JSON, too, and have no fields.
    return Object(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    // A proxy's page, or an object store's XML: the status says enough.
    return {};
  }
}

/**
 * Makes the error that a failing answer stands for.
 *
 * @param answer - of any server
 * @param call.what - the call in words, like `POST /requests`; never a presigned URL
 * @param call.nowMs - Unix time in milliseconds, for a `Retry-After` that is a date
 */
export function errorFromResponse(
  { status, headers, body }: { readonly status: number; readonly headers: Headers; readonly body: Uint8Array },
  { what, nowMs }: { readonly what: string; readonly nowMs: number },
): GatewayError {
  const { error, details } = readBody(body);
  return new GatewayError({
    code: codeOf(status),
    message: `${what} was answered with ${status}. ${typeof error === 'string' ? error : 'The answer says no more.'}`,
    status,
    details: Array.isArray(details) ? details : [],
    retryAfterMs: readRetryAfter(headers.get('retry-after'), nowMs),
    requestId: headers.get('x-request-id') ?? undefined,
    // What a broken gateway, or a proxy before it, has done by then is unknown.
    mayHaveHappened: status >= 500,
  });
}

/**
 * Reads a `Retry-After` header: seconds, or a date.
 *
 * @param value - the header, null where there is none
 * @param nowMs - Unix time in milliseconds
 * @returns milliseconds from now, at least 0; undefined where there is none or it cannot be read
 * @see RFC 9110 section 10.2.3
 */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
