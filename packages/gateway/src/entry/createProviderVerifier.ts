import { createOidcVerifier } from '../drivers/oidc/createOidcVerifier.ts';
import { createPrivyVerifier } from '../drivers/oidc/createPrivyVerifier.ts';
import type { Logger } from '../ports/logger.ts';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import type { Settings } from './settings.ts';

interface ProviderContext {
  readonly settings: Settings;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Makes the verifier for the identity provider that is set.
 *
 * @returns undefined where none is set
 */
export function createProviderVerifier({ settings, now, logger }: ProviderContext): TokenVerifier | undefined {
  const { IDENTITY_APP_ID: appId, IDENTITY_APP_SECRET: appSecret, IDENTITY_ISSUER: issuer } = settings;
  if (appId === undefined) return undefined;
  const common = { appId, allowInsecureHttp: settings.STAGE === 'dev', fetch: globalThis.fetch, now, logger };
  if (settings.IDENTITY_PROVIDER === 'privy') {
    const host = issuer?.replace(/\/+$/, '');
    const jwksUrl = host === undefined ? undefined : `${host}/api/v1/apps/${encodeURIComponent(appId)}/jwks.json`;
    return createPrivyVerifier({ ...common, jwksUrl });
  }
  if (issuer === undefined) return undefined;
  return createOidcVerifier({ ...common, issuer, appSecret });
}
