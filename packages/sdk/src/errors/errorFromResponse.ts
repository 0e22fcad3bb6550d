import type { ErrorBody } from '@prism-gateway/protocol';
import { GatewayError, type GatewayErrorCode } from './gatewayError.ts';
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
