import type { Context, Hono } from 'hono';
import type { GatewayPorts, Mount } from '../ports/gatewayPorts.ts';
import type { Call } from './call.ts';
import { type Endpoint, type EndpointContext, runEndpoint } from './endpoint.ts';
import { methodNotAllowed, routeNotFound } from './errors.ts';
import { API_HEADERS } from './headers.ts';
import { findPeer } from './peer.ts';
import type { PlainRoute } from './plainRoute.ts';
import { type Exchange, recordAnswer, respond } from './respond.ts';

/** What the connection tells beside the request. */
export interface GatewayEnv {
  /** Address of the other end of the connection. */
  readonly peerAddress: string;
}

type RouterPorts = Pick<GatewayPorts, 'metrics' | 'logger' | 'newId' | 'mounts'> &
  EndpointContext & { readonly trustedProxyHops: number };

const NO_BODY = new Uint8Array(0);
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

/** Lets a mount answer, and adds the API's headers to its answer where it wants them. */
async function answerMount(ports: RouterPorts, mount: Mount, exchange: Exchange, request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await mount.fetch(request);
  } catch (error) {
    return respond(ports, exchange, () => {
      throw error;
    });
  }
  recordAnswer(ports, exchange, response.status);
  const headers = new Headers(response.headers);
  headers.set('x-request-id', exchange.id);
  for (const [name, value] of Object.entries(mount.withApiHeaders ? API_HEADERS : {})) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(response.body, { status: response.status, headers });
}

export interface Router {
  serve<I>(endpoint: Endpoint<I>): void;
  servePlain(route: PlainRoute): void;
  /** Adds 405, preflight and 404, and returns the whole as one function. */
  finish(): (request: Request, env: GatewayEnv) => Promise<Response>;
}

/**
 * Makes the router: it tells routes apart with Hono and gives each request its exchange.
 *
 * @param app - an empty Hono app
 */
export function createRouter(app: Hono<{ Bindings: GatewayEnv }>, ports: RouterPorts): Router {
  const methodsOf = new Map<string, string[]>();

  function exchangeOf(request: Request, env: GatewayEnv, route: string): Exchange {
    const given = request.headers.get('x-request-id');
    return {
      id: given !== null && requestIdForm.test(given) ? given : ports.newId(),
      method: request.method,
      route,
      peer: findPeer(env.peerAddress, request.headers.get('x-forwarded-for'), ports.trustedProxyHops),
      startedAt: performance.now(),
      limitHeaders: undefined,
    };
  }

  function exchangeOn(c: Context<{ Bindings: GatewayEnv }>, route: string): Exchange {
    return exchangeOf(c.req.raw, c.env, route);
  }

  function remember(method: string, path: string): void {
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }

  function refuseRest(path: string, methods: readonly string[]): void {
    app.options(honoPath(path), (c) => respond(ports, exchangeOn(c, path), () => ({ status: 204, body: null })));
    app.all(honoPath(path), (c) =>
      respond(ports, exchangeOn(c, path), () => {
        throw methodNotAllowed(c.req.method, methods);
      }),
    );
  }

  return {
    serve(endpoint) {
      const { method, path: template } = endpoint.route;
      remember(method, template);
      app.on(method, honoPath(template), (c) => {
        const exchange = exchangeOn(c, template);
        const { path, query } = splitUrl(c.req.raw.url);
        const { raw: request } = c.req;
        const call: Call = {
          request,
          method: request.method,
          path,
          query,
          params: c.req.param(),
          peer: exchange.peer,
          body: NO_BODY,
        };
        return respond(ports, exchange, () => runEndpoint(ports, endpoint, call, exchange));
      });
    },
    servePlain({ path, answer }) {
      remember('GET', path);
      app.get(path, (c) => respond(ports, exchangeOn(c, path), () => answer(c.req.param())));
    },
    finish() {
      for (const [path, methods] of methodsOf) refuseRest(path, methods);
      app.notFound((c) => {
        const { path } = splitUrl(c.req.raw.url);
        return respond(ports, exchangeOn(c, 'unmatched'), () => {
          throw routeNotFound(c.req.method, path.slice(0, MAX_SHOWN_PATH));
        });
      });
      return async (request, env) => {
        const { path } = splitUrl(request.url);
        const mount = ports.mounts.find(({ prefix }) => path.startsWith(prefix));
        if (mount === undefined) return app.fetch(request, env);
        return answerMount(ports, mount, exchangeOf(request, env, mount.prefix), request);
      };
    },
  };
}
