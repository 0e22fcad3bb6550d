import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createRevocations } from './createRevocations.ts';
import type { DevIssuerContext } from './devIssuerContext.ts';
import { RefusalError } from './devIssuerContext.ts';
import { issueToken } from './issueToken.ts';
import { DEV_ISSUER_ALGORITHM, type DevelopmentKey, loadOrCreateKey } from './loadOrCreateKey.ts';
import { introspectOwnToken, revokeOwnToken } from './ownTokens.ts';

/**
 * `GET …/.well-known/openid-configuration`.
 *
 * @param context - the issuer
 * @returns 200 with the discovery document
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata
 */
export function describeIssuer({ issuer }: DevIssuerContext): Response {
  return Response.json({
    issuer,
    jwks_uri: `${issuer}/jwks`,
    token_endpoint: `${issuer}/token`,
    introspection_endpoint: `${issuer}/introspect`,
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    // Nobody signs in here: there is no authorization endpoint.
    response_types_supported: [],
    grant_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [DEV_ISSUER_ALGORITHM],
  });
}

export interface DevIssuerOptions {
  /** Where the issuer is mounted, like `http://127.0.0.1:8787/dev/identity`; it becomes `iss`. */
  readonly issuer: string;
  /** `IDENTITY_APP_ID`. */
  readonly appId: string;
  /** `IDENTITY_APP_SECRET`. */
  readonly appSecret: string;
  /** For the key and the revocations, like `data/identity`; made when missing. Processes that share it are one issuer. */
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes a UUID; default `crypto.randomUUID`. */
  readonly newId?: () => string;
}

/** The built-in development issuer. */
export interface DevIssuer {
  /**
   * Answers an HTTP request to the issuer.
   *
   * @param request - with its full path, less what a proxy in front has taken off its beginning; the host is not looked at
   * @returns the answer, in the API's error shape where it fails
   * @throws Error when the directory cannot be read or written
   */
  fetch(request: Request): Promise<Response>;
}

interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly handle: (context: DevIssuerContext, request: Request) => Response | Promise<Response>;
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/.well-known/openid-configuration': { method: 'GET', handle: describeIssuer },
  '/jwks': { method: 'GET', handle: async ({ key }) => Response.json({ keys: [(await key()).publicJwk] }) },
  '/token': { method: 'POST', handle: issueToken },
  '/introspect': { method: 'POST', handle: introspectOwnToken },
  '/revoke': { method: 'POST', handle: revokeOwnToken },
};

/** Whoever mounts the issuer adds the headers. */
const PREFLIGHT: Pick<Endpoint, 'handle'> = { handle: () => new Response(null, { status: 204 }) };

function findEndpoint(issuer: string, request: Request): Pick<Endpoint, 'handle'> {
  const base = new URL(issuer).pathname;
  const { pathname } = new URL(request.url);
  // A proxy in front may have taken off the beginning of the base.
  const isPathOf = (path: string) => pathname.endsWith(path) && `${base}${path}`.endsWith(pathname);
  const endpoint = Object.entries(ENDPOINTS).find(([path]) => isPathOf(path))?.[1];
  if (endpoint === undefined) throw new RefusalError('The development issuer has no such endpoint.', { status: 404 });
  if (request.method === 'OPTIONS') return PREFLIGHT;
  const allowed = endpoint.method === 'GET' ? ['GET', 'HEAD'] : ['POST'];
  if (allowed.includes(request.method)) return endpoint;
  throw new RefusalError(`This endpoint takes ${allowed.join(' and ')} only.`, {
    status: 405,
    headers: { allow: allowed.join(', ') },
  });
}

function toResponse({ message, details, status, headers }: RefusalError): Response {
  return Response.json({ error: message, ...(details === undefined ? {} : { details }) }, { status, headers });
}

/** Loads once; a failure is not kept, so that a repaired directory works without a restart. */
function createKeyLoader(directory: string): () => Promise<DevelopmentKey> {
  let loading: Promise<DevelopmentKey> | undefined;
  return () => {
    loading ??= loadOrCreateKey(directory).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/**
 * Creates the development issuer: a small OpenID provider that gives anyone a token for any user, so that the service can
 * be tried with no identity provider at hand. Never mount it in `prod`.
 *
 * @param options - its URL, the app, where its key and revocations are kept
 * @returns the issuer; nothing is read or written before the first request
 * @see docs/specification.md TOKEN-8
 * @example
 * const devIssuer = createDevIssuer({ issuer: 'http://127.0.0.1:8787/dev/identity', appId, appSecret, directory, now: Date.now });
 * await devIssuer.fetch(new Request('http://127.0.0.1:8787/dev/identity/jwks'));
 */
export function createDevIssuer(options: DevIssuerOptions): DevIssuer {
  const { appId, appSecret, directory, now } = options;
  const context: DevIssuerContext = {
    issuer: options.issuer.replace(/\/$/, ''),
    appId,
    appSecret,
    key: createKeyLoader(directory),
    revocations: createRevocations({ directory: join(directory, 'revoked'), now }),
    now,
    newId: options.newId ?? randomUUID,
  };

  return {
    async fetch(request) {
      try {
        const endpoint = findEndpoint(context.issuer, request);
        const response = await endpoint.handle(context, request);
        return request.method === 'HEAD' ? new Response(null, response) : response;
      } catch (error) {
        if (error instanceof RefusalError) return toResponse(error);
        throw error;
      }
    },
  };
}
