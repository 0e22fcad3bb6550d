import { type Context, Hono } from 'hono';
import type { Awaitable } from '../ports/awaitable.ts';
import type { GatewayPorts, Mount } from '../ports/gatewayPorts.ts';
import { type Endpoint, type EndpointPorts, runEndpoint } from './endpoint.ts';
import { bodyIncomplete, methodNotAllowed, routeNotFound } from './errors.ts';
import { type BodySource, findPeer, type HttpRequest, NO_BODY } from './request.ts';
import { API_HEADERS, type HttpResponse, type RequestContext, recordResponse, respond } from './response.ts';

/** What the connection tells beside the request. */
export interface GatewayEnv {
  /** Address of the other end of the connection. */
  readonly peerAddress: string;
  readonly arrivedBody?: BodySource['arrivedBody'];
}

type RouterPorts = Pick<GatewayPorts, 'metrics' | 'logger' | 'newId' | 'mounts'> &
  EndpointPorts & { readonly trustedProxyHops: number };

/** Longest path that an error repeats. */
const MAX_SHOWN_PATH = 200;
const requestIdForm = /^[A-Za-z0-9._:-]{1,64}$/;

/** Splits a URL as it came, without decoding: the path is what relayers sign. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const hash = url.indexOf('#', start);
  const end = hash === -1 ? url.length : hash;
  const mark = url.indexOf('?', start);
  if (mark === -1 || mark > end) return { path: url.slice(start, end), query: '' };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

/** Writes a template like `/requests/{requestId}` in Hono's form. */
const honoPath = (template: string) => template.replaceAll(/\{(\w+)\}/g, ':$1');

/** What a mount threw; where its reading of the body broke off, the client is told so, not the operator. */
const readMountFailure = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ECONNRESET' ? bodyIncomplete(error) : error;

/** Lets a mount answer, and adds the API's headers to its response where it wants them. */
async function answerMount(
  ports: RouterPorts,
  mount: Mount,
  context: RequestContext,
  request: Request,
): Promise<Response> {
  let response: Response;
  try {
    response = await mount.fetch(request);
  } catch (error) {
    return respond(ports, context, () => {
      throw readMountFailure(error);
    });
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
  /** Path template, in Hono's form where it has parameters. */
  readonly path: string;
  readonly answer: (params: Readonly<Record<string, string>>) => Promise<HttpResponse>;
}

export interface Router {
  serve<I>(endpoint: Endpoint<I>): void;
  servePlain(route: PlainRoute): void;
  /** Adds 405, preflight and 404, and returns the whole as one function. */
  finish(): (request: Request, env: GatewayEnv) => Awaitable<Response>;
}

/** Makes values of `X-Request-Id`: the process's own prefix and a count, which costs less than a UUID each. */
function createRequestIds(prefix: string): () => string {
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** Makes the router: it tells routes apart with Hono and gives each request its context. */
export function createRouter(ports: RouterPorts): Router {
  const served = new Hono<{ Bindings: GatewayEnv }>();
  // Apart from `served`, so that a served path has one handler and Hono need not compose several.
  const refused = new Hono<{ Bindings: GatewayEnv }>();
  const methodsOf = new Map<string, string[]>();
  const nextRequestId = createRequestIds(ports.newId());

  function contextOf(request: Request, env: GatewayEnv, route: string): RequestContext {
    const { headers } = request;
    const given = headers.get('x-request-id');
    const hops = ports.trustedProxyHops;
    return {
      id: given !== null && requestIdForm.test(given) ? given : nextRequestId(),
      method: request.method,
      route,
      peer: findPeer(env.peerAddress, hops === 0 ? null : headers.get('x-forwarded-for'), hops),
      startedAt: performance.now(),
      limitHeaders: undefined,
    };
  }

  function contextOn(c: Context<{ Bindings: GatewayEnv }>, route: string): RequestContext {
    return contextOf(c.req.raw, c.env, route);
  }

  function remember(method: string, path: string): void {
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }

  function refuseRest(path: string, methods: readonly string[]): void {
    refused.options(honoPath(path), (c) => respond(ports, contextOn(c, path), () => ({ status: 204, body: null })));
    refused.all(honoPath(path), (c) =>
      respond(ports, contextOn(c, path), () => {
        throw methodNotAllowed(c.req.method, methods);
      }),
    );
  }

  return {
    serve(endpoint) {
      const { method, path: template } = endpoint.route;
      remember(method, template);
      served.on(method, honoPath(template), (c) => {
        const context = contextOn(c, template);
        const { path, query } = splitUrl(c.req.raw.url);
        const { raw: request } = c.req;
        const httpRequest: HttpRequest = {
          raw: request,
          ...(c.env.arrivedBody !== undefined && { arrivedBody: c.env.arrivedBody }),
          method: request.method,
          path,
          query,
          params: c.req.param(),
          peer: context.peer,
          body: NO_BODY,
        };
        return respond(ports, context, () => runEndpoint(ports, endpoint, httpRequest, context));
      });
    },
    servePlain({ path, answer }) {
      remember('GET', path);
      served.get(path, (c) => respond(ports, contextOn(c, path), () => answer(c.req.param())));
    },
    finish() {
      for (const [path, methods] of methodsOf) refuseRest(path, methods);
      served.notFound((c) => refused.fetch(c.req.raw, c.env));
      refused.notFound((c) => {
        const { path } = splitUrl(c.req.raw.url);
        return respond(ports, contextOn(c, 'unmatched'), () => {
          throw routeNotFound(c.req.method, path.slice(0, MAX_SHOWN_PATH));
        });
      });
      return (request, env) => {
        const { path } = splitUrl(request.url);
        const mount = ports.mounts.find(({ prefix }) => path.startsWith(prefix));
        if (mount === undefined) return served.fetch(request, env);
        return answerMount(ports, mount, contextOf(request, env, mount.prefix), request);
      };
    },
  };
}
