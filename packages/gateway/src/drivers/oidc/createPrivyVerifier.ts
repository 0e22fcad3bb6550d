import type { Logger } from '../../ports/logger.ts';
import type { TokenVerifier, VerifiedUser } from '../../ports/tokenVerifier.ts';
import { cacheVerifications } from './cacheVerifications.ts';
import { createKeySet } from './createKeySet.ts';
import { logOutages } from './logOutages.ts';
import { requireSecureUrl } from './requireSecureUrl.ts';
import { verifyJwt } from './verifyJwt.ts';

/** A Privy app. Its secret is not needed: its keys are public and it has no introspection. */
export interface PrivyVerifierOptions {
  /** `IDENTITY_APP_ID`. */
  readonly appId: string;
  /** Where the app's keys are; default Privy's own host. */
  readonly jwksUrl?: string | undefined;
  /** Plain `http` to any host; development only. A loopback host may always have it. */
  readonly allowInsecureHttp: boolean;
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Longest time since a JWT was issued, in seconds; default 0: any. */
  readonly maxAgeSeconds?: number | undefined;
  /** For each call to Privy, in milliseconds; default 2,500. */
  readonly timeoutMs?: number | undefined;
}

/** Privy writes the bare name, not a URL. */
const ISSUER = 'privy.io';
const TIMEOUT_MS = 2_500;

/**
 * Creates the verifier for Privy access tokens: ES256 JWTs without `typ`, whose `sub` is the user's DID.
 *
 * An access token names its session in `sid`; an identity token, alike in all else, does not and is refused. Revocation is
 * not visible to a verifier: a token holds until its `exp`, or until it is as old as a token may be.
 *
 * @param options - app, clock and network
 * @returns the port
 * @throws TypeError for a `jwksUrl` that is not secure enough
 * @see https://docs.privy.io/authentication/user-authentication/access-tokens
 */
export function createPrivyVerifier(options: PrivyVerifierOptions): TokenVerifier {
  const { appId, now, logger, maxAgeSeconds = 0 } = options;
  const jwksUrl = options.jwksUrl ?? `https://auth.privy.io/api/v1/apps/${encodeURIComponent(appId)}/jwks.json`;
  const { href } = requireSecureUrl(jwksUrl, options);
  const connection = { fetch: options.fetch, timeoutMs: options.timeoutMs ?? TIMEOUT_MS };
  const keys = createKeySet({ jwksUri: async () => href, connection, now });
  const rules = {
    issuer: ISSUER,
    audience: appId,
    algorithms: ['ES256'],
    requiredClaims: ['sid'],
    maxAgeSeconds,
    keys,
    now,
  };

  const verify = (token: string): Promise<VerifiedUser> => verifyJwt(rules, token);
  return cacheVerifications({ verify: logOutages({ verify, logger, now }), now });
}
