import { ERROR_CODES, type ErrorCode } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import type { HttpRequest, HttpResponse } from './httpMessage.ts';

/** docs/specification.md CORS-1, word for word. */
export const CORS_OF_SPECIFICATION = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers':
    'Content-Type, Authorization, X-Relayer-Address, X-Relayer-Signature, X-Relayer-Timestamp, X-Admin-Key',
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
} as const;

const EXPOSED = 'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After';

/** Checks the headers that every response carries. */
function checkHeaders(call: HttpRequest, { headers }: HttpResponse, what: string): void {
  for (const [name, value] of Object.entries(CORS_OF_SPECIFICATION)) {
    expect(headers.get(name), `${name} of ${what}`).toBe(value);
  }
  expect(headers.get('access-control-expose-headers'), `exposed headers of ${what}`).toBe(EXPOSED);
  expect(headers.get('access-control-max-age'), `max age of ${what}`).toMatch(/^\d+$/);
  expect(headers.get('x-request-id'), `X-Request-Id of ${what}`).toMatch(/^[\x21-\x7e]{1,128}$/);
  if (call.isPlain || call.method === 'OPTIONS') return;
  expect(headers.get('content-type'), `content type of ${what}`).toMatch(/^application\/json\b/);
}

/** The error body: one sentence, the code of its status, and details with validation errors only. */
function checkError({ status, body }: HttpResponse, what: string): void {
  expect(body, `body of ${what}`).toBeTypeOf('object');
  const { error, code, details, ...rest } = body as Record<string, unknown>;
  expect(rest, `further fields in the error of ${what}`).toEqual({});
  expect(error, `error of ${what}`).toMatch(/^\S[^\n]*\S$/);
  const [statusOfCode] = ERROR_CODES[code as ErrorCode] ?? [];
  expect(statusOfCode, `code ${code} of ${what}`).toBe(status);
  if (status === 400) {
    expect(Array.isArray(details) && details.length > 0, `details of ${what}`).toBe(true);
    const entry = { path: expect.stringMatching(/./), message: expect.stringMatching(/./) };
    for (const detail of details as unknown[]) expect(detail).toEqual(entry);
  } else {
    expect(details, `details of ${what}`).toBeUndefined();
  }
}

/**
 * Checks what holds for every answer of the API: CORS, `X-Request-Id`, JSON, the error's shape, and that no call of a test
 * makes the service fail.
 *
 * @throws AssertionError
 * @see docs/specification.md ERROR-1, ERROR-16, CORS-1
 */
export function checkAnswer(call: HttpRequest, answer: HttpResponse): void {
  const what = `${call.method ?? 'GET'} ${call.path} (${answer.status})`;
  expect([500, 502, 504], `${what}: ${answer.text}`).not.toContain(answer.status);
  checkHeaders(call, answer, what);
  if (answer.status >= 400 && call.method !== 'HEAD') checkError(answer, what);
  if (answer.status === 429 || answer.status === 503) {
    expect(answer.headers.get('retry-after'), `Retry-After of ${what}`).toMatch(/^[1-9]\d*$/);
  }
}
