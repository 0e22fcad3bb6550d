import { RegExpRouter } from 'hono/router/reg-exp-router';
import { tryDecodeURI, tryDecodeURIComponent } from 'hono/utils/url';
import type { Awaitable } from '../ports/awaitable.ts';
import type { GatewayPorts, Mount } from '../ports/gatewayPorts.ts';
import { createOpenCalls } from './createOpenCalls.ts';
import { createReadBytes } from './createReadBytes.ts';
import { type Endpoint, type EndpointPorts, runEndpoint } from './endpoint.ts';
import { bodyIncomplete, methodNotAllowed, notLocal, routeNotFound } from './errors.ts';
import { type GatewayEnv, readFetchRequest } from './fetchRequest.ts';
import { isLocalPeer } from './isLocalPeer.ts';
import { createKnownCallers } from './rateLimit.ts';
import { findPeer, type HeaderReader, type HttpRequest, NO_BODY, type TransportRequest } from './request.ts';
import {
  API_HEADERS,
  andThen,
  type HttpResponse,
  type RequestContext,
  recordResponse,
  respond,
  toFetchResponse,
  type WrittenResponse,
} from './response.ts';

type RouterPorts = Pick<GatewayPorts, 'metrics' | 'logger' | 'newId' | 'mounts'> &
  Omit<EndpointPorts, 'known' | 'readBytes'> & { readonly trustedProxyHops: number; readonly maxOpenCalls: number };

/** Longest path that an error repeats. */
const MAX_SHOWN_PATH = 200;
const requestIdForm = /^[A-Za-z0-9._:-]{1,64}$/;

/** Writes a template like `/requests/{requestId}` in Hono's form. */
const honoPath = (template: string) => template.replaceAll(/\{(\w+)\}/g, ':$1');

/** Reads a mount's error; if its reading of the body broke off, the client gets the error, not the operator. */
const readMountFailure = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ECONNRESET' ? bodyIncomplete(error) : error;

/** Lets a mount answer, and adds the API's headers to its response if it wants them. */
async function answerMount(
  ports: RouterPorts,
  mount: Mount,
  context: RequestContext,
  request: Request,
): Promise<Response> {
  let response: Response;
  try {
    if (mount.localOnly === true && !isLocalPeer(context.peer)) throw notLocal();
    response = await mount.fetch(request);
  } catch (error) {
    const failed = respond(ports, context, () => {
      throw readMountFailure(error);
    });
    return andThen(failed, toFetchResponse);
  }
  recordResponse(ports, context, response.status);
  const headers = new Headers(response.headers);
  headers.set('x-request-id', context.id);
  for (const [name, value] of Object.entries(mount.withApiHeaders ? API_HEADERS : {})) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(response.body, { status: response.status, headers });
}

/** A `GET` route outside the specification's API, for operators and readers: no limits, no body, no caller. */
export interface PlainRoute {
  /** Path template, in Hono's form if it has parameters. */
  readonly path: string;
  readonly answer: (params: Readonly<Record<string, string>>, headers: HeaderReader) => Promise<HttpResponse>;
}

export interface Router {
  serve(endpoint: Endpoint<unknown>): void;
  servePlain(route: PlainRoute): void;
  /** Adds 405, preflight and 404, and returns the whole. */
  finish(): Answering;
}

/** The whole gateway as functions. */
export interface Answering {
  /** Answers a request whose path is below no mount. */
  readonly answer: (request: TransportRequest) => Awaitable<WrittenResponse>;
  /** The mount that answers a path, if one does. */
  readonly findMount: (path: string) => Mount | undefined;
  /** Answers any request of the web platform's kind. */
  readonly fetch: (request: Request, env: GatewayEnv) => Awaitable<Response>;
}

type Params = Readonly<Record<string, string>>;

const countNothing = async () => undefined;

/** A class: the engine makes each object literal with an accessor a table of its own. */
class RoutedRequest implements HttpRequest {
  readonly raw: HttpRequest['raw'];
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly params: Params;
  readonly peer: string;
  readonly announcedBytes: number | undefined;
  readonly timing: HttpRequest['timing'];
  body: Uint8Array = NO_BODY;
  count: HttpRequest['count'] = countNothing;
  readonly #transported: TransportRequest;

  constructor(transported: TransportRequest, params: Params, context: RequestContext) {
    this.raw = transported.raw;
    this.method = transported.method;
    this.path = transported.path;
    this.query = transported.query;
    this.params = params;
    this.peer = context.peer;
    this.timing = context;
    this.announcedBytes = transported.announcedBytes;
    this.#transported = transported;
  }

  get signal(): AbortSignal {
    return this.#transported.signal;
  }

  readBody(maxBytes: number): Awaitable<Uint8Array> {
    return this.#transported.readBody(maxBytes);
  }
}

/** Answers the calls of one method on one path. */
type Handler = (request: TransportRequest, params: Params) => Awaitable<WrittenResponse>;

/** Decodes a path for routing, but for what would change where its segments end. */
const decodePath = (path: string) =>
  path.includes('%') ? tryDecodeURI(path.includes('%25') ? path.replaceAll('%25', '%2525') : path) : path;

/** Who answers, with the decoded parameters of the path. */
interface Found {
  readonly handler: Handler;
  readonly params: Params;
}

/** Handlers by method and path. */
interface RouteTable {
  /** @param method - `ALL` for any @param path - in Hono's form */
  add(method: string, path: string, handler: Handler): void;
  find(method: string, path: string): Found | undefined;
}

/**
 * Makes a table of routes: paths without parameters by their text, which win, and the others by Hono's one regular expression. That
 * one takes no path beside another's parameter, which its slower router, in turn, would walk a tree for at each call.
 */
function createTable(): RouteTable {
  const fixed = new Map<string, Found>();
  const fixedPaths = new Set<string>();
  const router = new RegExpRouter<Handler>();
  return {
    add(method, path, handler) {
      if (path.includes(':')) router.add(method, path, handler);
      else {
        fixed.set(`${method} ${path}`, { handler, params: {} });
        fixedPaths.add(path);
      }
    },
    find(method, path) {
      const known = fixed.get(`${method} ${path}`) ?? fixed.get(`ALL ${path}`);
      // Another method on such a path is not one on the path of a parameter: `GET /requests/claims` reads no request.
      if (known !== undefined || fixedPaths.has(path)) return known;
      const [handlers, stash] = router.match(method, path);
      const found = handlers[0];
      if (found === undefined) return undefined;
      const params: Record<string, string> = {};
      for (const name in found[1]) {
        const place = found[1][name];
        const value = typeof place === 'number' ? (stash?.[place] ?? '') : (place ?? '');
        params[name] = value.includes('%') ? tryDecodeURIComponent(value) : value;
      }
      return { handler: found[0], params };
    },
  };
}

/** Does something once another thing is done, well or not. */
function whenDone<T>(act: () => Awaitable<T>, end: () => void): Awaitable<T> {
  let done: Awaitable<T>;
  try {
    done = act();
  } catch (error) {
    end();
    throw error;
  }
  if (done instanceof Promise) return done.finally(end);
  end();
  return done;
}

/** Makes values of `X-Request-Id`: the process's own prefix and a count, which costs less than a UUID each. */
function createRequestIds(prefix: string): () => string {
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** Makes the router: it distinguishes routes with Hono's routers and gives each request its context. */
export function createRouter(ports: RouterPorts): Router {
  const served = createTable();
  // Apart from `served`, so that a served path has one handler.
  const refused = createTable();
  const methodsOf = new Map<string, string[]>();
  const nextRequestId = createRequestIds(ports.newId());
  const endpointPorts = { ...ports, known: createKnownCallers(), readBytes: createReadBytes(ports.limiter) };
  const openCalls = createOpenCalls(ports.maxOpenCalls);

  let hasWarnedOfProxy = false;
  function warnOfProxy(): void {
    hasWarnedOfProxy = true;
    const advice =
      'X-Forwarded-For came, and is not believed: behind a proxy of yours set TRUSTED_PROXY_HOPS, else all its clients share one limit.';
    ports.logger.warn({ code: 'PROXY_NOT_TRUSTED' }, advice);
  }

  function contextOf({ method, raw: { headers }, peerAddress }: TransportRequest, route: string): RequestContext {
    const given = headers.get('x-request-id');
    const hops = ports.trustedProxyHops;
    if (hops === 0 && !hasWarnedOfProxy && headers.get('x-forwarded-for') !== null) warnOfProxy();
    return {
      id: given !== null && requestIdForm.test(given) ? given : nextRequestId(),
      method,
      route,
      peer: findPeer(peerAddress, hops === 0 ? null : headers.get('x-forwarded-for'), hops),
      startedAt: performance.now(),
      waitedMs: 0,
      limitHeaders: undefined,
    };
  }

  function remember(method: string, path: string): void {
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }

  function refuseRest(path: string, methods: readonly string[]): void {
    refused.add('ALL', honoPath(path), (request) =>
      respond(ports, contextOf(request, path), () => {
        if (request.method === 'OPTIONS') return { status: 204, body: null };
        throw methodNotAllowed(request.method, methods);
      }),
    );
  }

  function refuseUnknown(request: TransportRequest): Awaitable<WrittenResponse> {
    return respond(ports, contextOf(request, 'unmatched'), () => {
      throw routeNotFound(request.method, request.path.slice(0, MAX_SHOWN_PATH));
    });
  }

  function answer(request: TransportRequest): Awaitable<WrittenResponse> {
    const path = decodePath(request.path);
    const isHead = request.method === 'HEAD';
    const found = served.find(isHead ? 'GET' : request.method, path) ?? refused.find(request.method, path);
    const written = found === undefined ? refuseUnknown(request) : found.handler(request, found.params);
    return isHead ? andThen(written, (known) => ({ ...known, body: null })) : written;
  }

  const findMount = (path: string) => ports.mounts.find(({ prefix }) => path.startsWith(prefix));

  return {
    serve(endpoint) {
      const { method, path: template } = endpoint.route;
      remember(method, template);
      served.add(method, honoPath(template), (request, params) => {
        const context = contextOf(request, template);
        const routed = new RoutedRequest(request, params, context);
        return respond(ports, context, () => {
          const end = openCalls.begin(context.peer);
          return whenDone(() => runEndpoint(endpointPorts, endpoint, routed, context), end);
        });
      });
    },
    servePlain({ path, answer: answerPlain }) {
      remember('GET', path);
      served.add('GET', path, (request, params) =>
        respond(ports, contextOf(request, path), () => answerPlain(params, request.raw.headers)),
      );
    },
    finish() {
      for (const [path, methods] of methodsOf) refuseRest(path, methods);
      return {
        answer,
        findMount,
        fetch(request, env) {
          const transported = readFetchRequest(request, env);
          const mount = findMount(transported.path);
          if (mount === undefined) return andThen(answer(transported), toFetchResponse);
          return answerMount(ports, mount, contextOf(transported, mount.prefix), request);
        },
      };
    },
  };
}
