import { GatewayError, type GatewayErrorCode, type GatewayFault } from './gatewayError.ts';
import { readRetryAfter } from './retryAfter.ts';

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

function readBody(text: string): { readonly error?: unknown; readonly details?: unknown } {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    // A proxy's page, or an object store's XML: the status says enough.
    return {};
  }
}

function isFault(value: unknown): value is GatewayFault {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('message' in value)) return false;
  return typeof value.path === 'string' && typeof value.message === 'string';
}

/**
 * Makes the error that a failing answer stands for.
 *
 * @param answer.what - the call in words, like `POST /requests`; never a presigned URL
 * @param answer.text - the answer's body
 * @param answer.nowMs - Unix time in milliseconds, for a `Retry-After` that is a date
 */
export function errorFromAnswer(answer: {
  readonly what: string;
  readonly response: { readonly status: number; readonly headers: Headers };
  readonly text: string;
  readonly nowMs: number;
}): GatewayError {
  const { status, headers } = answer.response;
  const body = readBody(answer.text);
  const sentence = typeof body.error === 'string' ? body.error : 'The answer says no more.';
  return new GatewayError({
    code: codeOf(status),
    message: `${answer.what} was answered with ${status}. ${sentence}`,
    status,
    details: Array.isArray(body.details) ? body.details.filter(isFault) : [],
    retryAfterMs: readRetryAfter(headers.get('retry-after'), answer.nowMs),
    requestId: headers.get('x-request-id') ?? undefined,
    // What a broken gateway, or a proxy before it, has done by then is unknown.
    mayHaveHappened: status >= 500,
  });
}
