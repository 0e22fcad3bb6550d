import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JwtIssuerEndpoint, JwtIssuerState } from './jwtIssuerState.ts';
import { misbehave } from './misbehave.ts';

const ENDPOINTS: Readonly<Record<string, JwtIssuerEndpoint>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/keys': 'keys',
  '/introspection': 'introspection',
};

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function describe(issuer: string, { introspection }: JwtIssuerState) {
  const endpoint = introspection ? { introspection_endpoint: `${issuer}/introspection` } : {};
  return { issuer, jwks_uri: `${issuer}/keys`, ...endpoint };
}

/** RFC 6749, section 2.3.1: each half form-encoded, then Basic. */
function isClient(request: IncomingMessage, { appId, appSecret }: JwtIssuerState): boolean {
  const encoded = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const halves = Buffer.from(encoded, 'base64').toString().split(':');
  const [id, secret, ...more] = halves.map((half) => decodeURIComponent(half.replaceAll('+', ' ')));
  return id === appId && secret === appSecret && more.length === 0;
}

async function introspect(state: JwtIssuerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  if (!isClient(request, state)) return sendJson(response, 401, { error: 'invalid_client' });
  const token = form.get('token') ?? '';
  const claims = state.revoked.has(token) ? undefined : state.tokens.get(token);
  sendJson(response, 200, claims === undefined ? { active: false } : { active: true, ...claims });
}

/**
 * The HTTP side of a JWT issuer.
 *
 * @param state - what it knows
 * @param issuer - gives its own URL
 * @returns a listener for `node:http`
 */
export function createJwtIssuerHandler(state: JwtIssuerState, issuer: () => string): RequestListener {
  return (request, response) => {
    const endpoint = ENDPOINTS[request.url ?? ''];
    if (endpoint === undefined) return sendJson(response, 404, {});
    state.calls[endpoint] += 1;
    const behaviour = state.behaviours.get(endpoint);
    if (behaviour !== undefined) return misbehave(response, behaviour);
    if (endpoint === 'discovery') return sendJson(response, 200, describe(issuer(), state));
    if (endpoint === 'keys') return sendJson(response, 200, { keys: state.published.map((key) => key.publicJwk) });
    introspect(state, request, response).catch(() => response.destroy());
  };
}
