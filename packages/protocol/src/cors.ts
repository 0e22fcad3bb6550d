/**
 * CORS headers of every answer but those of local objects.
 *
 * @see docs/specification.md CORS-1
 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers':
    'Content-Type, Authorization, X-Relayer-Address, X-Relayer-Signature, X-Relayer-Timestamp, X-Admin-Key',
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
  'access-control-expose-headers': 'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After',
  'access-control-max-age': '86400',
} as const;
