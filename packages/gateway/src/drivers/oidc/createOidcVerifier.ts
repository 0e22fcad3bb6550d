import { decodeProtectedHeader } from 'jose';
import { TokenRejectedError } from '../../ports/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TokenVerifier, VerifiedUser } from '../../ports/tokenVerifier.ts';
import { cacheVerifications } from './cacheVerifications.ts';
import { createDiscovery, type ProviderMetadata } from './createDiscovery.ts';
import { createKeySet } from './createKeySet.ts';
import { type ActiveToken, type Introspection, introspectToken } from './introspectToken.ts';
import { logOutages } from './logOutages.ts';
import { providerFault } from './providerFault.ts';
import { CLOCK_TOLERANCE_SECONDS, readUserId, requireBearer, toExpiresAtMs } from './tokenClaims.ts';
import { verifyJwt } from './verifyJwt.ts';

/** An OpenID Connect provider, and this service's client there. */
export interface OidcVerifierOptions {
  /** `IDENTITY_ISSUER`, exactly as the provider writes it in `iss`. */
  readonly issuer: string;
  /** `IDENTITY_APP_ID`: the audience of good tokens, and the user name for introspection. */
  readonly appId: string;
  /** `IDENTITY_APP_SECRET`: needed as soon as the provider has an introspection endpoint. */
  readonly appSecret?: string | undefined;
  /** Plain `http` to any host; development only. A loopback host may always have it. */
  readonly allowInsecureHttp: boolean;
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Longest time since a JWT was issued, in seconds; default 0: any. */
  readonly maxAgeSeconds?: number | undefined;
  /** For each call to the provider, in milliseconds; default 2,500. */
  readonly timeoutMs?: number | undefined;
  /** How long a good answer is kept, in milliseconds; default and most 15,000. */
  readonly cacheMs?: number | undefined;
}

/** A caller waits through at most three calls (discovery, keys, introspection) before a 503. */
const TIMEOUT_MS = 2_500;

/**
 * Everything asymmetric that JWS has. No `HS*`: with them whoever knows the public key could sign. No `none`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8725#section-3.1
 */
const ALGORITHMS = [
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
];

/** Anything else, encrypted JWTs too, is the provider's own affair: opaque. */
function isSignedJwt(token: string): boolean {
  if (token.split('.').length !== 3) return false;
  try {
    return decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
}

/** A JWT that is good in itself, in the light of what the provider says now. */
function applyIntrospection(user: VerifiedUser, introspection: Introspection): VerifiedUser {
  // It does not know JWTs, so the signature and `exp` are all there is.
  if (introspection.outcome === 'unknown') return user;
  if (introspection.outcome === 'inactive') throw new TokenRejectedError('The access token was revoked.');
  requireBearer(introspection.claims);
  const { exp } = introspection.claims;
  if (exp === undefined || exp === null) return user;
  return { ...user, expiresAtMs: Math.min(user.expiresAtMs, toExpiresAtMs(exp)) };
}

/**
 * Creates the verifier for an OpenID Connect provider found by discovery.
 *
 * A JWT is verified against the provider's key set, and then introspected for revocation if there is an introspection
 * endpoint; an opaque token is introspected. A good answer is kept for at most 15 s. Nothing is asked before the first
 * token comes. Whatever the provider fails to answer ends in `DependencyUnavailableError`; the door is never left open.
 *
 * @param options - provider, credentials, clock and network
 * @returns the port
 * @see docs/specification.md TOKEN-1, TOKEN-5
 * @example
 * const verifier = createOidcVerifier({
 *   issuer: 'https://id.example.com', appId: 'prism', appSecret, allowInsecureHttp: false,
 *   fetch: globalThis.fetch, now: Date.now, logger,
 * });
 * const { userId } = await verifier.verify(token);
 */
export function createOidcVerifier(options: OidcVerifierOptions): TokenVerifier {
  const { issuer, appId, appSecret, now, logger } = options;
  const connection = { fetch: options.fetch, timeoutMs: options.timeoutMs ?? TIMEOUT_MS };
  const discovery = createDiscovery({ issuer, allowInsecureHttp: options.allowInsecureHttp, connection, now });
  const keys = createKeySet({ jwksUri: async () => (await discovery.get()).jwksUri, connection, now });
  const jwtRules = {
    issuer,
    audience: appId,
    algorithms: ALGORITHMS,
    requiredClaims: [],
    maxAgeSeconds: options.maxAgeSeconds ?? 0,
    keys,
    now,
  };

  async function introspect(provider: ProviderMetadata, token: string): Promise<Introspection> {
    const endpoint = provider.introspectionEndpoint;
    if (endpoint === undefined) return { outcome: 'unknown' };
    // Without it revoked tokens would get in unnoticed.
    if (appSecret === undefined) throw providerFault('introspection: IDENTITY_APP_SECRET is not set');
    return introspectToken({ endpoint, appId, appSecret, connection }, token);
  }

  async function verify(token: string): Promise<VerifiedUser> {
    const provider = await discovery.get();
    if (!isSignedJwt(token)) return verifyOpaque({ issuer, appId, now }, await introspect(provider, token));
    const user = await verifyJwt(jwtRules, token);
    return applyIntrospection(user, await introspect(provider, token));
  }

  return cacheVerifications({ verify: logOutages({ verify, logger, now }), now, maxAgeMs: options.cacheMs });
}

/** Rules for a valid opaque token. */
interface OpaqueRules {
  readonly issuer: string;
  /** The app's id. */
  readonly appId: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * How long a token without `exp` is vouched for. RFC 7662 leaves `exp` out at the provider's will, so its end is unknown.
 * A presigned URL may not outlive the token: 75 s leave the default lifetime of 60 s whole, even for an answer that has
 * been kept for 15 s.
 */
const VOUCHED_MS = 75_000;

function isForApp({ aud, client_id: clientId }: ActiveToken, appId: string): boolean {
  // Without an audience the token is for whoever it was issued to.
  if (aud === undefined || aud === null) return clientId === appId;
  return Array.isArray(aud) ? aud.includes(appId) : aud === appId;
}

function readExpiry({ exp }: ActiveToken, now: () => number): number {
  const nowMs = now();
  if (exp === undefined || exp === null) return nowMs + VOUCHED_MS;
  const expiresAtMs = toExpiresAtMs(exp);
  if (expiresAtMs + CLOCK_TOLERANCE_SECONDS * 1000 > nowMs) return expiresAtMs;
  throw new TokenRejectedError('The access token has expired.');
}

/**
 * Checks an opaque access token by what the provider says of it.
 *
 * `token_type` is optional in RFC 7662; when it is there it must be `Bearer`.
 *
 * @throws TokenRejectedError when it is not active, not for this app, or names no user
 */
function verifyOpaque(rules: OpaqueRules, introspection: Introspection): VerifiedUser {
  if (introspection.outcome !== 'active')
    throw new TokenRejectedError('The access token is unknown, expired or revoked.');
  const { claims } = introspection;
  const { iss } = claims;
  if (iss !== undefined && iss !== null && iss !== rules.issuer) {
    throw new TokenRejectedError('The access token is from another issuer.');
  }
  if (!isForApp(claims, rules.appId)) throw new TokenRejectedError('The access token is for another audience.');
  requireBearer(claims);
  return { issuer: rules.issuer, userId: readUserId(claims.sub), expiresAtMs: readExpiry(claims, rules.now) };
}
