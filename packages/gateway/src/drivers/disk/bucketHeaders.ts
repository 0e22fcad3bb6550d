const EXPOSED =
  'ETag, Content-Length, Content-Type, Content-Disposition, Content-Range, Accept-Ranges, Last-Modified, Retry-After, X-Request-Id';
const HEADER_LIST = /^[\w!#$%&'*+.^`|~, -]{1,2000}$/;

/**
 * Writes the headers that every answer about a local object has: the bucket's CORS policy, and that no browser is to
 * show, guess at or keep what comes.
 *
 * @param request the request
 * @param corsOrigins origins that may read the answer; `*` for any
 * @returns headers, lower-case names
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function makeBucketHeaders(request: Request, corsOrigins: readonly string[]): Record<string, string> {
  const wanted = request.headers.get('access-control-request-headers');
  return {
    ...allowOrigin(request.headers.get('origin'), corsOrigins),
    'access-control-allow-methods': 'GET, PUT, HEAD, DELETE',
    'access-control-allow-headers': wanted !== null && HEADER_LIST.test(wanted) ? wanted : '*',
    'access-control-expose-headers': EXPOSED,
    'access-control-max-age': '3600',
    'cache-control': 'private, no-store',
    'content-security-policy': "default-src 'none'; sandbox",
    vary: 'Origin, Access-Control-Request-Headers',
    'x-content-type-options': 'nosniff',
  };
}

function allowOrigin(origin: string | null, corsOrigins: readonly string[]): Record<string, string> {
  if (corsOrigins.includes('*')) return { 'access-control-allow-origin': '*' };
  const isAllowed = origin !== null && corsOrigins.includes(origin);
  return isAllowed ? { 'access-control-allow-origin': origin } : {};
}
