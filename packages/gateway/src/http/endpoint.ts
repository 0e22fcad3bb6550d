import type { Route } from '@prism-gateway/protocol';
import { type Awaitable, andThen } from '../ports/awaitable.ts';
import type { Answer } from './answer.ts';
import { checkJsonType, readBody } from './body.ts';
import type { Call } from './call.ts';
import { toApiError } from './errorAnswer.ts';
import type { LimitName, RateLimiter } from './rateLimit.ts';
import type { Exchange } from './respond.ts';

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
  readonly authenticate?: (call: Call) => Promise<Caller<Identity>>;
  /** Tells the calls that need no authentication although others of the route do; their identity is undefined. */
  readonly isPublic?: (call: Call) => boolean;
  /** Counts a failed authentication by the peer, and refuses a peer over it beforehand. */
  readonly failureLimit?: LimitName;
  readonly handle: (call: Call, identity: Identity) => Awaitable<Answer>;
}

const SERVER_ERROR = 500;

export interface EndpointContext {
  readonly limiter: RateLimiter;
  readonly maxBodyBytes: number;
}

function withBody(context: EndpointContext, route: Route, call: Call): Awaitable<Call> {
  if (!route.takesBody) return call;
  return andThen(readBody(call, context.maxBodyBytes), (body) => {
    checkJsonType(call.request, body);
    return { ...call, body };
  });
}

/** Takes a step; if it fails by the caller's doing, does something before the failure goes on. */
async function orElse<T>(step: () => Awaitable<T>, onFailure: () => Promise<void>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (toApiError(error).status < SERVER_ERROR) await onFailure();
    throw error;
  }
}

/** Runs a public call: its peer is counted before anything else is looked at. */
function runPublic<I>(
  context: EndpointContext,
  endpoint: Endpoint<I>,
  call: Call,
  exchange: Exchange,
): Awaitable<Answer> {
  const { route } = endpoint;
  return andThen(context.limiter.take(route.rateLimit, call.peer), (limitHeaders) => {
    exchange.limitHeaders = limitHeaders;
    // Where a call can be public, `I` includes undefined.
    return andThen(withBody(context, route, call), (whole) => endpoint.handle(whole, undefined as I));
  });
}

/**
 * Runs an endpoint in the order in which errors win: rate limit of the peer, size, content type, authentication, rate limit
 * of the authenticated client, then the handler's validation, existence and state.
 *
 * @see docs/specification.md ERROR-15
 */
export function runEndpoint<Identity>(
  context: EndpointContext,
  endpoint: Endpoint<Identity>,
  call: Call,
  exchange: Exchange,
): Awaitable<Answer> {
  if (isGuarded(endpoint) && endpoint.isPublic?.(call) !== true) return runGuarded(context, endpoint, call, exchange);
  return runPublic(context, endpoint, call, exchange);
}

type Guarded<Identity> = Endpoint<Identity> & Required<Pick<Endpoint<Identity>, 'authenticate'>>;

const isGuarded = <I>(endpoint: Endpoint<I>): endpoint is Guarded<I> => endpoint.authenticate !== undefined;

/** Runs an act where there is room for it. */
type Enter = <T>(act: () => Promise<T>) => Promise<T>;

/** Takes a place of the peer under each limit, in order, for as long as they are used. @throws ApiError RATE_LIMITED */
async function withPlaces<T>(
  limiter: RateLimiter,
  { limits, peer }: { readonly limits: readonly LimitName[]; readonly peer: string },
  use: (enter: Enter) => Promise<T>,
): Promise<T> {
  const [name, ...others] = limits;
  if (name === undefined) return await use((act) => act());
  const place = await limiter.approach(name, peer);
  try {
    if (others.length === 0) return await use(place.enter);
    return await withPlaces(limiter, { limits: others, peer }, (enter) => use((act) => place.enter(() => enter(act))));
  } finally {
    place.leave();
  }
}

async function runGuarded<Identity>(
  context: EndpointContext,
  endpoint: Guarded<Identity>,
  call: Call,
  exchange: Exchange,
): Promise<Answer> {
  const { authenticate, failureLimit, route } = endpoint;
  const { limiter } = context;
  const { peer } = call;
  const countPeer = async () => {
    exchange.limitHeaders = await limiter.take(route.rateLimit, peer);
  };
  const countFailure = async () => {
    if (failureLimit !== undefined) await limiter.take(failureLimit, peer);
    await countPeer();
  };
  const limits = failureLimit === undefined ? [route.rateLimit] : [route.rateLimit, failureLimit];
  const { whole, caller } = await withPlaces(limiter, { limits, peer }, async (enter) => {
    // Read before it enters, so that nobody can hold up others of the same peer.
    const withItsBody = await orElse(() => withBody(context, route, call), countPeer);
    return { whole: withItsBody, caller: await enter(() => orElse(() => authenticate(withItsBody), countFailure)) };
  });
  exchange.limitHeaders = await limiter.take(route.rateLimit, caller.client ?? peer);
  return await endpoint.handle(whole, caller.identity);
}
