import { join } from 'node:path';
import { createDevIssuer } from '../drivers/devIssuer/createDevIssuer.ts';
import { createOidcVerifier } from '../drivers/oidc/createOidcVerifier.ts';
import type { Mount } from '../ports/gatewayPorts.ts';
import type { Logger } from '../ports/logger.ts';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import { answersAdminLocally } from './answersAdminLocally.ts';
import { createProviderVerifier } from './createProviderVerifier.ts';
import type { Settings } from './settings.ts';

/** Where the development issuer is mounted. */
export const DEV_ISSUER_PATH = '/dev/identity';

/** `IDENTITY_APP_ID` of the development issuer where none is set. */
const DEV_APP_ID = 'prism-gateway-dev';

export interface Identity {
  readonly tokens: TokenVerifier;
  readonly mounts: readonly Mount[];
  readonly usesDevIssuer: boolean;
}

interface IdentityContext {
  readonly settings: Settings;
  readonly publicUrl: string;
  readonly devAppSecret: string;
  readonly now: () => number;
  readonly logger: Logger;
}

/** The built-in issuer, and a verifier that reaches it by function call: the same protocol without the network. */
function createDevIdentity({ settings, publicUrl, devAppSecret, now, logger }: IdentityContext): Identity {
  const issuer = `${publicUrl}${DEV_ISSUER_PATH}`;
  const app = {
    appId: settings.IDENTITY_APP_ID ?? DEV_APP_ID,
    appSecret: settings.IDENTITY_APP_SECRET ?? devAppSecret,
  };
  const devIssuer = createDevIssuer({ issuer, ...app, directory: join(settings.DATA_DIR, 'identity'), now });
  const callIssuer: typeof globalThis.fetch = (input, init) => devIssuer.fetch(new Request(input, init));
  return {
    tokens: createOidcVerifier({ issuer, ...app, allowInsecureHttp: true, fetch: callIssuer, now, logger }),
    mounts: [
      {
        prefix: `${DEV_ISSUER_PATH}/`,
        fetch: devIssuer.fetch,
        withApiHeaders: true,
        localOnly: answersAdminLocally(settings),
      },
    ],
    usesDevIssuer: true,
  };
}

/** Chooses who vouches for users. */
export function createIdentity(context: IdentityContext): Identity {
  const tokens = createProviderVerifier(context);
  return tokens === undefined ? createDevIdentity(context) : { tokens, mounts: [], usesDevIssuer: false };
}
