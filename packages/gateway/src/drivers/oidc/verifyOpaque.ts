import { TokenRejectedError } from '../../ports/errors.ts';
import type { VerifiedUser } from '../../ports/tokenVerifier.ts';
import { CLOCK_TOLERANCE_SECONDS } from './clockTolerance.ts';
import type { ActiveToken, Introspection } from './introspectToken.ts';
import { readUserId } from './readUserId.ts';
import { requireBearer } from './requireBearer.ts';
import { toExpiresAtMs } from './toExpiresAtMs.ts';

/** What a good opaque token must be. */
export interface OpaqueRules {
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
 * Judges an opaque access token by what the provider says of it.
 *
 * `token_type` is optional in RFC 7662; when it is there it must be `Bearer`.
 *
 * @param rules - what a good one must be
 * @param introspection - the provider's word
 * @returns whom the token speaks for
 * @throws TokenRejectedError when it is not active, not for this app, or names no user
 */
export function verifyOpaque(rules: OpaqueRules, introspection: Introspection): VerifiedUser {
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
