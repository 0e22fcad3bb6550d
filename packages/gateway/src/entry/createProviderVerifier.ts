import { createOidcVerifier } from '../drivers/oidc/createOidcVerifier.ts';
import { createPrivyVerifier } from '../drivers/oidc/createPrivyVerifier.ts';
import type { Logger } from '../ports/logger.ts';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import type { Settings } from './settings.ts';

/** Privy reports no revocation: this bounds for how long a revoked token holds. */
const PRIVY_MAX_AGE_SECONDS = 3600;

interface ProviderContext {
  readonly settings: Settings;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Makes the verifier for the identity provider that is set.
 *
 * @returns undefined if none is set
 */
export function createProviderVerifier({ settings, now, logger }: ProviderContext): TokenVerifier | undefined {
  const { IDENTITY_APP_ID: appId, IDENTITY_APP_SECRET: appSecret, IDENTITY_ISSUER: issuer } = settings;
  if (appId === undefined) return undefined;
  const { IDENTITY_PROVIDER: provider, IDENTITY_MAX_TOKEN_AGE_SECONDS: given } = settings;
  const maxAgeSeconds = given ?? (provider === 'privy' ? PRIVY_MAX_AGE_SECONDS : 0);
  const common = {
    appId,
    maxAgeSeconds,
    allowInsecureHttp: settings.STAGE === 'dev',
    fetch: globalThis.fetch,
    now,
    logger,
  };
  if (provider === 'privy') {
    const host = issuer?.replace(/\/+$/, '');
    const jwksUrl = host === undefined ? undefined : `${host}/api/v1/apps/${encodeURIComponent(appId)}/jwks.json`;
    return createPrivyVerifier({ ...common, jwksUrl });
  }
  if (issuer === undefined) return undefined;
  return createOidcVerifier({ ...common, issuer, appSecret });
}
