import type { Route } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import type { ReadBytes } from './createReadBytes.ts';
import type { Permit } from './createSemaphore.ts';
import { noSpace, toApiError } from './errors.ts';
import type { KnownCallers, RateLimiter } from './rateLimit.ts';
import type { LimitName } from './rateLimits.ts';
import { checkAnnouncedBody, type HttpRequest } from './request.ts';
import { andThen, type HttpResponse, type RequestContext } from './response.ts';

/** An authenticated caller: what the handler is given, and the client that its limits count. */
export interface Caller<Identity> {
  readonly identity: Identity;
  /** Like `relayer:0x…`; undefined: the peer. */
  readonly client?: string;
}

/** One route: how to identify who calls it, and what to do. */
export interface Endpoint<Identity = undefined> {
  readonly route: Route;
  /** Absent: anyone may call. @throws ApiError 401 */
  readonly authenticate?: (request: HttpRequest) => Promise<Caller<Identity>>;
  /** Whether the proof of who calls covers the body, which is then read first. Otherwise the body of a stranger is never read. */
  readonly signsBody?: boolean;
  /** Selects the calls that need no authentication although others of the route do; their identity is undefined. */
  readonly isPublic?: (request: HttpRequest) => boolean;
  /** Counts a failed authentication by the peer, and refuses a peer over it beforehand; absent: `auth-failures`. */
  readonly failureLimit?: LimitName;
  /** Whether it stores what strangers send, which a nearly full disk has no room for. */
  readonly needsSpace?: boolean;
  /**
   * The caller's identity according to the headers. Whoever has authenticated as that from a peer before is not refused for others'
   * failures.
   */
  readonly claimedCaller?: (request: HttpRequest) => string;
  /** Whether the handler counts by `request.count`, once it knows how much is asked; otherwise each call is one hit. */
  readonly countsItself?: boolean;
  /** A method, so that endpoints of every kind of caller fit one table. */
  handle(request: HttpRequest, identity: Identity): Awaitable<HttpResponse>;
}

const SERVER_ERROR = 500;

export interface EndpointPorts {
  readonly limiter: RateLimiter;
  readonly maxBodyBytes: number;
  readonly known: KnownCallers;
  readonly readBytes: ReadBytes;
  readonly hasSpace: () => boolean;
}

/** Reads the body that the route takes, if it does. @throws ApiError of `readBody` */
function readBody(ports: EndpointPorts, route: Route, request: HttpRequest): Awaitable<void> {
  if (!route.takesBody || request.announcedBytes === 0) return undefined;
  return andThen(request.readBody(ports.maxBodyBytes), (body) => {
    request.body = body;
  });
}

/** Refuses a body that need not be read for it. @throws ApiError BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE */
function checkBody(ports: EndpointPorts, route: Route, request: HttpRequest): void {
  if (route.takesBody) checkAnnouncedBody(request, ports.maxBodyBytes);
}

/** Takes a step; if it fails by the client's doing, does something before the failure goes on. */
async function onClientError<T>(step: () => Awaitable<T>, onFailure: () => Promise<void>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (toApiError(error).status < SERVER_ERROR) await onFailure();
    throw error;
  }
}

/** Counts the bytes of a stranger's body. @throws ApiError RATE_LIMITED */
function countBytes(ports: EndpointPorts, client: string, hits: number | undefined): Awaitable<unknown> {
  return hits === undefined || hits === 0 ? undefined : ports.limiter.take('write-bytes', { client, hits });
}

/** Reads a stranger's body, whose bytes count: before it comes in, if its size is known. */
function readPublicBody(ports: EndpointPorts, route: Route, request: HttpRequest): Awaitable<unknown> {
  if (!route.takesBody) return undefined;
  const { peer, announcedBytes } = request;
  return andThen(countBytes(ports, peer, announcedBytes), () =>
    andThen(readBody(ports, route, request), () =>
      announcedBytes === undefined ? countBytes(ports, peer, request.body.byteLength) : undefined,
    ),
  );
}

/** Runs a public call: its peer is counted before anything else is looked at. */
function runPublic<I>(
  ports: EndpointPorts,
  endpoint: Endpoint<I>,
  request: HttpRequest,
  context: RequestContext,
): Awaitable<HttpResponse> {
  const { route } = endpoint;
  return andThen(ports.limiter.take(route.rateLimit, { client: request.peer }), (limitHeaders) => {
    context.limitHeaders = limitHeaders;
    checkBody(ports, route, request);
    if (endpoint.needsSpace === true && !ports.hasSpace()) throw noSpace();
    // Where a call can be public, `I` includes undefined.
    return andThen(readPublicBody(ports, route, request), () => {
      if (route.method !== 'GET') return endpoint.handle(request, undefined as I);
      return ports.readBytes.count(request.peer, () => endpoint.handle(request, undefined as I));
    });
  });
}

/**
 * Runs an endpoint in the order in which errors win: rate limit of the peer, announced size, content
 * type, authentication, rate limit of the authenticated client, the body's real size, then the handler's validation, existence and state.
 *
 * @see docs/specification.md ERROR-15
 */
export function runEndpoint<Identity>(
  ports: EndpointPorts,
  endpoint: Endpoint<Identity>,
  request: HttpRequest,
  context: RequestContext,
): Awaitable<HttpResponse> {
  if (isGuarded(endpoint) && endpoint.isPublic?.(request) !== true)
    return runGuarded(ports, endpoint, request, context);
  return runPublic(ports, endpoint, request, context);
}

type Guarded<Identity> = Endpoint<Identity> & Required<Pick<Endpoint<Identity>, 'authenticate'>>;

const isGuarded = <I>(endpoint: Endpoint<I>): endpoint is Guarded<I> => endpoint.authenticate !== undefined;

/** Uses a permit, and gives it back. */
async function withPermit<T>(permit: Permit, use: (permit: Permit) => Promise<T>): Promise<T> {
  try {
    return await use(permit);
  } finally {
    permit.release();
  }
}

/** Authenticates the caller; failures count for the peer in a limit of their own, which public calls have no part in. */
async function authenticateCaller<Identity>(
  ports: EndpointPorts,
  endpoint: Guarded<Identity>,
  request: HttpRequest,
  context: RequestContext,
): Promise<Caller<Identity>> {
  const { authenticate, route, failureLimit = 'auth-failures', signsBody = false } = endpoint;
  const { limiter, known } = ports;
  const { peer } = request;
  const countIn = (name: LimitName) => async () => {
    context.limitHeaders = await limiter.take(name, { client: peer });
  };
  const claimed = endpoint.claimedCaller && `${peer} ${endpoint.claimedCaller(request)}`;
  const isKnown = claimed !== undefined && known.has(claimed);
  const permit = await (isKnown ? limiter.acquireKnown(claimed) : limiter.acquire(failureLimit, peer));
  return await withPermit(permit, async ({ run }) => {
    // Read before it runs, so that nobody can hold up others of the same peer.
    await onClientError(async () => {
      checkBody(ports, route, request);
      if (signsBody) await readBody(ports, route, request);
    }, countIn('auth-failures'));
    const caller = await run(() => onClientError(() => authenticate(request), countIn(failureLimit)));
    if (claimed !== undefined) known.add(claimed);
    return caller;
  });
}

async function runGuarded<Identity>(
  ports: EndpointPorts,
  endpoint: Guarded<Identity>,
  request: HttpRequest,
  context: RequestContext,
): Promise<HttpResponse> {
  const { route, signsBody = false, countsItself = false } = endpoint;
  const { identity, client = request.peer } = await authenticateCaller(ports, endpoint, request, context);
  request.count = async (hits, name = route.rateLimit) => {
    context.limitHeaders = await ports.limiter.take(name, { client, hits });
  };
  const countOnce = () => request.count(1);
  if (!countsItself) await countOnce();
  if (!signsBody) await readBody(ports, route, request);
  if (!countsItself) return await endpoint.handle(request, identity);
  // A call that fails before it was counted counts too.
  const countUncounted = async () => {
    if (context.limitHeaders === undefined) await countOnce();
  };
  return await onClientError(() => endpoint.handle(request, identity), countUncounted);
}
