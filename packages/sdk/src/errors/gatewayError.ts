import type { ErrorBody, ErrorCode } from '@prism-gateway/protocol';
import { ERROR_KINDS } from '@prism-gateway/protocol/errors';

/** The kind of a failed call, whichever gateway it went to. */
export type GatewayErrorKind =
  /** By the answer's status: 400, 401, 403 (a presigned URL), 404, 409, 413, 429. */
  | (typeof ERROR_KINDS)[keyof typeof ERROR_KINDS]
  /** 5xx, or a 4xx that is a proxy's own, for the gateway behind it is being replaced: try again later. */
  | 'UNAVAILABLE'
  /** No answer, or only a part of one. */
  | 'NETWORK_FAILED'
  /** The caller's `AbortSignal` fired. */
  | 'ABORTED'
  /** `waitForRequest` ran out of its time; the request itself goes on. */
  | 'WAIT_TIMED_OUT'
  /** An answer that no gateway gives: is the URL right? */
  | 'UNEXPECTED_ANSWER';

/** The error as a program matches it: the gateway's own code, or the kind if it gave none. */
export type GatewayErrorCode = ErrorCode | GatewayErrorKind;

/** One fault of a refused body or query. */
export interface GatewayFault {
  /** Like `params.dataIds[2]`. */
  readonly path: string;
  readonly message: string;
}

/** The facts of a gateway error. */
export interface GatewayErrorFacts {
  readonly kind: GatewayErrorKind;
  /** Default: the kind. */
  readonly code?: GatewayErrorCode | undefined;
  readonly message: string;
  readonly status?: number | undefined;
  readonly details?: readonly GatewayFault[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly mayHaveHappened?: boolean;
  readonly cause?: unknown;
}

/**
 * A call to the gateway failed. Match by `kind` or `code`; the message is for people, and holds no key, token, signature or presigned URL.
 *
 * @see docs/specification.md ERROR-1
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  declare readonly kind: GatewayErrorKind;
  /** As the gateway gave it, like `TOO_MANY_OPEN_CLAIMS`; a later gateway may have others. */
  declare readonly code: GatewayErrorCode;
  /** HTTP status, if there was an answer. */
  declare readonly status: number | undefined;
  /** Every fault of a body or query that was not valid; else empty. */
  declare readonly details: readonly GatewayFault[];
  /** How long the gateway asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined;
  /** The answer's `X-Request-Id`: what an operator finds the call by. */
  declare readonly requestId: string | undefined;
  /** Whether the gateway may have done what was asked all the same: true if the answer was lost. */
  declare readonly mayHaveHappened: boolean;

  constructor({ message, cause, details = [], mayHaveHappened = false, ...facts }: GatewayErrorFacts) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { details, mayHaveHappened, ...facts, code: facts.code ?? facts.kind });
  }
}

/** Whether a caught value is a `GatewayError` of one of some kinds or codes. */
export function isGatewayError(error: unknown, ...codes: readonly GatewayErrorCode[]): error is GatewayError {
  return (
    error instanceof GatewayError && (codes.length === 0 || codes.includes(error.kind) || codes.includes(error.code))
  );
}

/**
 * Makes the error for an answer that no gateway gives.
 *
 * @param what - the call in words, like `POST /requests`
 * @param lack - what the answer is not, like `JSON`
 */
export function unexpectedAnswer(what: string, lack: string, cause?: unknown): GatewayError {
  const message = `The answer to ${what} is no ${lack}. Is this the URL of a gateway?`;
  return new GatewayError({ kind: 'UNEXPECTED_ANSWER', message, mayHaveHappened: true, cause });
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
  return new GatewayError({ kind: 'ABORTED', message, mayHaveHappened, cause: signal.reason });
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
  return new GatewayError({ kind: 'NETWORK_FAILED', message, mayHaveHappened: wasSent(failure), cause: failure });
}

function kindOf(status: number): GatewayErrorKind {
  const kinds: Readonly<Record<number, GatewayErrorKind>> = ERROR_KINDS;
  return kinds[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'UNEXPECTED_ANSWER');
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

/** Statuses that say something of what was asked for, which only a gateway knows: without its error body they are a proxy's. */
const KNOWN_TO_GATEWAYS = [400, 404, 409];

/**
 * Makes the error that a failing answer stands for.
 *
 * @param answer - of any server
 * @param call.what - the call in words, like `POST /requests`; never a presigned URL
 * @param call.nowMs - Unix time in milliseconds, for a `Retry-After` that is a date
 * @param call.isObject - it was a call of an object store, which has errors of its own
 */
export function errorFromResponse(
  { status, headers, body }: { readonly status: number; readonly headers: Headers; readonly body: Uint8Array },
  { what, nowMs, isObject }: { readonly what: string; readonly nowMs: number; readonly isObject?: boolean | undefined },
): GatewayError {
  const { error, code, details } = readBody(body);
  const isProxys = !isObject && error === undefined && KNOWN_TO_GATEWAYS.includes(status);
  return new GatewayError({
    kind: isProxys ? 'UNAVAILABLE' : kindOf(status),
    // One that this SDK does not know is handed on.
    code: typeof code === 'string' ? code : undefined,
    message: `${what} was answered with ${status}. ${typeof error === 'string' ? error : 'The answer says no more.'}`,
    status,
    details: Array.isArray(details) ? details : [],
    retryAfterMs: readRetryAfter(headers.get('retry-after'), nowMs),
    requestId: headers.get('x-request-id') ?? undefined,
    // A broken gateway, or a proxy before it, may have done anything by then.
    mayHaveHappened: status >= 500,
  });
}

/**
 * Reads a `Retry-After` header: seconds, or a date.
 *
 * @param value - the header, null if there is none
 * @param nowMs - Unix time in milliseconds
 * @returns milliseconds from now, at least 0; undefined if there is none or it cannot be read
 * @see RFC 9110 section 10.2.3
 */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
