import { ERROR_CODES, type ErrorCode, type Fault } from '@prism-gateway/protocol';
import { DependencyUnavailableError, InvalidCursorError, TokenRejectedError } from '../ports/errors.ts';
import { TooManyWaitsError } from '../push/createWaits.ts';
import { RequestConflictError, RequestNotFoundError } from '../requests/errors.ts';

interface ApiErrorFacts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure that the caller is notified of: its message is the wire's `error`. Made by the functions below. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  /** Of the code, in the protocol's table. */
  readonly status: number;
  readonly details: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(facts: ApiErrorFacts, options?: { cause?: unknown }) {
    super(facts.message, options);
    this.code = facts.code;
    [this.status] = ERROR_CODES[facts.code];
    this.details = facts.details;
    this.headers = facts.headers;
  }
}

/** Seconds after which a client may try again when a dependency did not answer. */
const RETRY_AFTER_OUTAGE_SECONDS = 1;

export const routeNotFound = (method: string, path: string) =>
  new ApiError({
    code: 'ROUTE_NOT_FOUND',
    message: `There is no route ${method} ${path}; see /docs for those there are.`,
  });

export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new ApiError({
    code: 'METHOD_NOT_ALLOWED',
    message: `This route does not take ${method}; it takes ${allowed.join(', ')}.`,
    headers: { allow: [...allowed, 'OPTIONS'].join(', ') },
  });

export const rateLimited = (what: string, retryAfterSeconds: number, limitHeaders: Readonly<Record<string, string>>) =>
  new ApiError({
    code: 'RATE_LIMITED',
    message: `Too many ${what}; try again in ${retryAfterSeconds} s.`,
    headers: { ...limitHeaders, 'retry-after': String(retryAfterSeconds) },
  });

export const bodyTooLarge = (maxBytes: number) =>
  new ApiError({ code: 'BODY_TOO_LARGE', message: `The body is larger than ${maxBytes} bytes.` });

export const bodyIncomplete = (cause: unknown) =>
  new ApiError({ code: 'BODY_INCOMPLETE', message: 'The body ended early or was malformed.' }, { cause });

/** Seconds after which a client may try again whose call was ended for the sake of others. */
const RETRY_AFTER_OVERLOAD_SECONDS = 2;

export const overloaded = () =>
  new ApiError({
    code: 'OVERLOADED',
    message: 'Too many calls are under way; nothing has changed. Try again.',
    headers: { 'retry-after': String(RETRY_AFTER_OVERLOAD_SECONDS) },
  });

export const tooManyCalls = () =>
  new ApiError({
    code: 'TOO_MANY_CALLS',
    message: 'Too many calls of this client are under way; nothing has changed. Try again.',
    headers: { 'retry-after': String(RETRY_AFTER_OVERLOAD_SECONDS) },
  });

/** Seconds after which a client may try again when the disk is nearly full, which somebody has to see to. */
const RETRY_WITHOUT_SPACE_SECONDS = 60;

export const noSpace = () =>
  new ApiError({
    code: 'NO_SPACE',
    message:
      'The store has no room for more pending requests of yours at the moment; nothing has changed. Try again later.',
    headers: { 'retry-after': String(RETRY_WITHOUT_SPACE_SECONDS) },
  });

export const notJson = () =>
  new ApiError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'The body must be JSON: send Content-Type: application/json, or none.',
  });

export const encodedBody = () =>
  new ApiError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'The body must come as it is: without Content-Encoding.',
    headers: { 'accept-encoding': 'identity' },
  });

function validationSentence(details: readonly Fault[]): string {
  const [only] = details;
  if (only !== undefined && details.length === 1) return `Not valid: ${only.path}: ${only.message}.`;
  return `Not valid: ${details.length} faults, each named in details.`;
}

export const validationFailed = (details: readonly Fault[]) =>
  new ApiError({ code: 'VALIDATION_FAILED', message: validationSentence(details), details });

export const unauthenticated = (code: ErrorCode, message: string) => new ApiError({ code, message });

export const mayOnlyRead = () =>
  new ApiError({
    code: 'ADMIN_KEY_READS_ONLY',
    message: 'This X-Admin-Key may read and not act: it is one of ADMIN_READ_KEYS.',
  });

export const notLocal = () =>
  new ApiError({
    code: 'NOT_LOCAL',
    message:
      'With the development admin key, this is answered to this machine and private networks alone; set ADMIN_API_KEY.',
  });

export const dependencyUnavailable = (dependency: string, cause: unknown) =>
  new ApiError(
    {
      code: 'DEPENDENCY_UNAVAILABLE',
      message: `The ${dependency} did not answer; nothing is known to have changed. Try again.`,
      headers: { 'retry-after': String(RETRY_AFTER_OUTAGE_SECONDS) },
    },
    { cause },
  );

export const unexpected = (cause: unknown) =>
  new ApiError(
    {
      code: 'UNEXPECTED',
      message: 'Something went wrong here; the request id in X-Request-Id helps to find it.',
    },
    { cause },
  );

const invalidCursor = ({ parameter }: InvalidCursorError) =>
  validationFailed([
    { path: parameter, message: `expected the ${parameter} of the page before, with the same filters` },
  ]);

export const relayerNotFound = (address: string) =>
  new ApiError({ code: 'RELAYER_NOT_FOUND', message: `${address} is not on the whitelist.` });

/**
 * Reads any thrown thing as an `ApiError`. Errors of the domain and of ports know no HTTP: their code's status is in the protocol's table;
 * the unknown becomes one plain 500 that leaks nothing.
 *
 * @see docs/specification.md ERROR-1
 */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof RequestConflictError || thrown instanceof RequestNotFoundError) return new ApiError(thrown);
  if (thrown instanceof TooManyWaitsError) {
    const { code, message } = thrown;
    return new ApiError({ code, message, headers: { 'retry-after': String(RETRY_AFTER_OVERLOAD_SECONDS) } });
  }
  if (thrown instanceof InvalidCursorError) return invalidCursor(thrown);
  if (thrown instanceof TokenRejectedError) return unauthenticated(thrown.code, thrown.message);
  if (thrown instanceof DependencyUnavailableError) return dependencyUnavailable(thrown.dependency, thrown);
  return unexpected(thrown);
}
