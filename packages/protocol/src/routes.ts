/** Who may call a route. */
export type Access = 'public' | 'identity' | 'relayer' | 'admin';

/** Which limit counts a call; see `RATE_LIMIT_*`. */
export type RateLimitClass = 'reads' | 'writes' | 'sign' | 'claims' | 'reports';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path template with `{parameter}`s. */
  readonly path: string;
  /** `GET /requests` is public until `status` or `chainName` is asked. */
  readonly access: Access;
  readonly rateLimit: RateLimitClass;
  /** Whether the route takes a JSON body. */
  readonly takesBody: boolean;
  /** Status of success. */
  readonly success: 200 | 201;
  /** Another one, if there is one. */
  readonly otherSuccess?: 200;
  /** Statuses of failure that are the route's own. @see listErrors */
  readonly errors: readonly number[];
}

/** Failures of every route; of one that takes a body; and of one that is not public. */
export const COMMON_ERRORS = { all: [429, 500, 503], body: [413, 415], access: [401] } as const;

/** All statuses of failure of a route, in their order. */
export function listErrors({ access, takesBody, errors }: Pick<Route, 'access' | 'takesBody' | 'errors'>): number[] {
  const { all, body, access: refused } = COMMON_ERRORS;
  const failures = [...errors, ...(access === 'public' ? [] : refused), ...(takesBody ? body : []), ...all];
  return failures.sort((one, other) => one - other);
}

/**
 * Every endpoint, by the name of what it does: those of the specification, and those beyond it.
 *
 * @see docs/specification.md SERVICE-4
 */
export const ROUTES = {
  signStorage: {
    method: 'POST',
    path: '/storage/sign',
    access: 'identity',
    rateLimit: 'sign',
    takesBody: true,
    success: 200,
    errors: [400],
  },
  createRequest: {
    method: 'POST',
    path: '/requests',
    access: 'public',
    rateLimit: 'writes',
    takesBody: true,
    success: 201,
    otherSuccess: 200,
    errors: [400],
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    access: 'public',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400, 401],
  },
  readRequest: {
    method: 'GET',
    path: '/requests/{requestId}',
    access: 'public',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400, 404],
  },
  feedRequests: {
    method: 'GET',
    path: '/requests/feed',
    access: 'relayer',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  updateRequest: {
    method: 'PATCH',
    path: '/requests/{requestId}',
    access: 'relayer',
    rateLimit: 'reports',
    takesBody: true,
    success: 200,
    errors: [400, 404, 409],
  },
  claimRequests: {
    method: 'POST',
    path: '/requests/claims',
    access: 'relayer',
    rateLimit: 'claims',
    takesBody: true,
    success: 200,
    errors: [400],
  },
  reportRequests: {
    method: 'POST',
    path: '/requests/reports',
    access: 'relayer',
    rateLimit: 'reports',
    takesBody: true,
    success: 200,
    errors: [400],
  },
  releaseRequest: {
    method: 'POST',
    path: '/requests/{requestId}/release',
    access: 'relayer',
    rateLimit: 'reports',
    takesBody: true,
    success: 200,
    errors: [400, 404, 409],
  },
  addRelayer: {
    method: 'POST',
    path: '/admin/relayers',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: true,
    success: 201,
    errors: [400],
  },
  readRelayer: {
    method: 'GET',
    path: '/admin/relayers/{address}',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400, 404],
  },
  removeRelayer: {
    method: 'DELETE',
    path: '/admin/relayers/{address}',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  suspendRelayer: {
    method: 'POST',
    path: '/admin/relayers/{address}/suspend',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: true,
    success: 200,
    errors: [400, 404],
  },
  resumeRelayer: {
    method: 'POST',
    path: '/admin/relayers/{address}/resume',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400, 404],
  },
  releaseRelayer: {
    method: 'POST',
    path: '/admin/relayers/{address}/release',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  listRelayers: {
    method: 'GET',
    path: '/admin/relayers',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [],
  },
  listAllRequests: {
    method: 'GET',
    path: '/admin/requests',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  readStats: {
    method: 'GET',
    path: '/admin/stats',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  listActs: {
    method: 'GET',
    path: '/admin/audit',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [400],
  },
  readService: {
    method: 'GET',
    path: '/admin/service',
    access: 'admin',
    rateLimit: 'reads',
    takesBody: false,
    success: 200,
    errors: [],
  },
  releaseClaim: {
    method: 'POST',
    path: '/admin/requests/{requestId}/release',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400, 404, 409],
  },
  failRequest: {
    method: 'POST',
    path: '/admin/requests/{requestId}/fail',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: true,
    success: 200,
    errors: [400, 404, 409],
  },
  reopenRequest: {
    method: 'POST',
    path: '/admin/requests/{requestId}/reopen',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400, 404, 409],
  },
  purgeRequest: {
    method: 'DELETE',
    path: '/admin/requests/{requestId}',
    access: 'admin',
    rateLimit: 'writes',
    takesBody: false,
    success: 200,
    errors: [400, 404, 409],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

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
