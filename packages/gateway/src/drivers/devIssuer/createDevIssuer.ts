import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseWith } from '@prism-gateway/protocol';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod/mini';
import { createRevocations } from './createRevocations.ts';
import { type DevIssuerContext, RefusalError, readBody, requireClient } from './devIssuerContext.ts';
import { DEV_ISSUER_ALGORITHM, type DevelopmentKey, loadOrCreateKey } from './loadOrCreateKey.ts';

/** Token claims that every token of this issuer has. */
type OwnToken = JWTPayload & { readonly jti: string; readonly exp: number };

/** The gateway lets a token in up to 5 s past `exp`; the check stays with the gateway. */
const CLOCK_TOLERANCE_SECONDS = 5;

/** Reads the form parameter `token` of an introspection or revocation. */
async function readOwnToken(context: DevIssuerContext, request: Request): Promise<OwnToken | undefined> {
  const form = new URLSearchParams(await readBody(request, 'application/x-www-form-urlencoded'));
  const [token, ...more] = form.getAll('token');
  if (token === undefined || token === '' || more.length > 0) {
    throw new RefusalError('The form must have the parameter "token" once.', { code: 'VALIDATION_FAILED' });
  }
  const { publicKey } = await context.key();
  try {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [DEV_ISSUER_ALGORITHM],
      issuer: context.issuer,
      audience: context.appId,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(context.now()),
    });
    // Signed by our own key, so it is as `issueToken` made it.
    return payload as OwnToken;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** `POST …/introspect`: whether a token still holds. @returns 200 `{ active, … }` @see https://www.rfc-editor.org/rfc/rfc7662#section-2 */
async function introspectOwnToken(context: DevIssuerContext, request: Request): Promise<Response> {
  requireClient(context, request.headers.get('authorization'));
  const token = await readOwnToken(context, request);
  const active = token !== undefined && !(await context.revocations.has(token));
  const answer = active ? { active, ...token, token_type: 'Bearer' } : { active };
  return Response.json(answer, { headers: { 'cache-control': 'no-store' } });
}

/**
 * `POST …/revoke`: ends a token. In development its holder may do so without the app's credentials.
 * @see https://www.rfc-editor.org/rfc/rfc7009#section-2
 */
async function revokeOwnToken(context: DevIssuerContext, request: Request): Promise<Response> {
  const authorization = request.headers.get('authorization');
  if (authorization !== null) requireClient(context, authorization);
  const token = await readOwnToken(context, request);
  if (token !== undefined) await context.revocations.add(token);
  return Response.json({}, { headers: { 'cache-control': 'no-store' } });
}

/** OpenID Connect Core, section 2, `sub`. */
const MAX_SUB_LENGTH = 255;
const MAX_LIFETIME_SECONDS = 86_400;
const DEFAULT_LIFETIME_SECONDS = 3_600;
const subMessage = `expected 1 to ${MAX_SUB_LENGTH} characters`;
const expiresInMessage = `expected whole seconds, 1 to ${MAX_LIFETIME_SECONDS}`;

const bodySchema = z.strictObject(
  {
    sub: z.string(subMessage).check(
      z.minLength(1, subMessage),
      z.maxLength(MAX_SUB_LENGTH, subMessage),
      z.refine((text) => text.isWellFormed(), 'expected whole Unicode characters'),
    ),
    expiresIn: z.optional(
      z.int(expiresInMessage).check(z.gte(1, expiresInMessage), z.lte(MAX_LIFETIME_SECONDS, expiresInMessage)),
    ),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'expected an object' : undefined) },
);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusalError('The body is not valid JSON.', { code: 'VALIDATION_FAILED' });
  }
}

/** `POST …/token`: an access token for any user, for the asking. This is why there is no such issuer in `prod`. */
async function issueToken(context: DevIssuerContext, request: Request): Promise<Response> {
  const parsed = parseWith(bodySchema, parseJson(await readBody(request, 'application/json')));
  if ('faults' in parsed)
    throw new RefusalError('The body is not valid.', { code: 'VALIDATION_FAILED', details: parsed.faults });
  const { sub, expiresIn = DEFAULT_LIFETIME_SECONDS } = parsed.value;
  const { privateKey, kid } = await context.key();
  const issuedAt = Math.floor(context.now() / 1000);
  const token = await new SignJWT({ client_id: context.appId })
    .setProtectedHeader({ alg: DEV_ISSUER_ALGORITHM, kid, typ: 'at+jwt' })
    .setIssuer(context.issuer)
    .setAudience(context.appId)
    .setSubject(sub)
    .setJti(context.newId())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresIn)
    .sign(privateKey);
  const answer = { access_token: token, token_type: 'Bearer', expires_in: expiresIn };
  return Response.json(answer, { headers: { 'cache-control': 'no-store' } });
}

/** `GET …/.well-known/openid-configuration`. @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata */
function describeIssuer({ issuer }: DevIssuerContext): Response {
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

interface DevIssuerOptions {
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
   * @returns the answer, in the API's error shape if it fails
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
  if (endpoint === undefined)
    throw new RefusalError('The development issuer has no such endpoint.', { code: 'ROUTE_NOT_FOUND' });
  if (request.method === 'OPTIONS') return PREFLIGHT;
  const allowed = endpoint.method === 'GET' ? ['GET', 'HEAD'] : ['POST'];
  if (allowed.includes(request.method)) return endpoint;
  throw new RefusalError(`This endpoint takes ${allowed.join(' and ')} only.`, {
    code: 'METHOD_NOT_ALLOWED',
    headers: { allow: allowed.join(', ') },
  });
}

function toResponse({ message, code, details, status, headers }: RefusalError): Response {
  return Response.json({ error: message, code, ...(details === undefined ? {} : { details }) }, { status, headers });
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
