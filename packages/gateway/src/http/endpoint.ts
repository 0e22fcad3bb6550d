import type { Route } from '@prism-gateway/protocol';
import type { Awaitable } from '../ports/awaitable.ts';
import { toApiError } from './errors.ts';
import type { LimitName, RateLimiter } from './rateLimit.ts';
import { checkAnnouncedBody, type HttpRequest } from './request.ts';
import { andThen, type HttpResponse, type RequestContext } from './response.ts';

/** An authenticated caller: what the handler is told, and the client that its limits count. */
export interface Caller<Identity> {
  readonly identity: Identity;
  /** Like `relayer:0x…`; undefined: the peer. */
  readonly client?: string;
}

/** One route: how to tell who calls it, and what to do. */
export interface Endpoint<Identity = undefined> {
  readonly route: Route;
  /** Absent: anyone may call. @throws ApiError 401 */
  readonly authenticate?: (request: HttpRequest) => Promise<Caller<Identity>>;
  /** Whether the proof of who calls covers the body, which is then read first. Otherwise the body of a stranger is never read. */
  readonly signsBody?: boolean;
  /** Tells the calls that need no authentication although others of the route do; their identity is undefined. */
  readonly isPublic?: (request: HttpRequest) => boolean;
  /** Counts a failed authentication by the peer, and refuses a peer over it beforehand. */
  readonly failureLimit?: LimitName;
  readonly handle: (request: HttpRequest, identity: Identity) => Awaitable<HttpResponse>;
}

const SERVER_ERROR = 500;

export interface EndpointPorts {
  readonly limiter: RateLimiter;
  readonly maxBodyBytes: number;
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

/** Runs a public call: its peer is counted before anything else is looked at. */
function runPublic<I>(
  ports: EndpointPorts,
  endpoint: Endpoint<I>,
  request: HttpRequest,
  context: RequestContext,
): Awaitable<HttpResponse> {
  const { route } = endpoint;
  return andThen(ports.limiter.take(route.rateLimit, request.peer), (limitHeaders) => {
    context.limitHeaders = limitHeaders;
    checkBody(ports, route, request);
    // Where a call can be public, `I` includes undefined.
    return andThen(readBody(ports, route, request), () => endpoint.handle(request, undefined as I));
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

/** Runs an act where there is room for it. */
type Run = <T>(act: () => Promise<T>) => Promise<T>;

/** Holds a permit of the peer under each limit, in order, for as long as they are used. @throws ApiError RATE_LIMITED */
async function withPermits<T>(
  limiter: RateLimiter,
  { limits, peer }: { readonly limits: readonly LimitName[]; readonly peer: string },
  use: (run: Run) => Promise<T>,
): Promise<T> {
  const [name, ...others] = limits;
  if (name === undefined) return await use((act) => act());
  const permit = await limiter.acquire(name, peer);
  try {
    if (others.length === 0) return await use(permit.run);
    return await withPermits(limiter, { limits: others, peer }, (run) => use((act) => permit.run(() => run(act))));
  } finally {
    permit.release();
  }
}

async function runGuarded<Identity>(
  ports: EndpointPorts,
  endpoint: Guarded<Identity>,
  request: HttpRequest,
  context: RequestContext,
): Promise<HttpResponse> {
  const { authenticate, failureLimit, route, signsBody = false } = endpoint;
  const { limiter } = ports;
  const { peer } = request;
  const countPeer = async () => {
    context.limitHeaders = await limiter.take(route.rateLimit, peer);
  };
  const countFailure = async () => {
    if (failureLimit !== undefined) await limiter.take(failureLimit, peer);
    await countPeer();
  };
  const limits = failureLimit === undefined ? [route.rateLimit] : [route.rateLimit, failureLimit];
  const caller = await withPermits(limiter, { limits, peer }, async (run) => {
    // Read before it runs, so that nobody can hold up others of the same peer.
    await onClientError(async () => {
      checkBody(ports, route, request);
      if (signsBody) await readBody(ports, route, request);
    }, countPeer);
    return await run(() => onClientError(() => authenticate(request), countFailure));
  });
  context.limitHeaders = await limiter.take(route.rateLimit, caller.client ?? peer);
  if (!signsBody) await readBody(ports, route, request);
  return await endpoint.handle(request, caller.identity);
}
