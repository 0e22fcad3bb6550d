import { join } from 'node:path';
import type { Mount } from '../ports/gatewayPorts.ts';
import type { Logger } from '../ports/logger.ts';
import type { TokenVerifier } from '../ports/tokenVerifier.ts';
import { answersAdminLocally } from './answersAdminLocally.ts';
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

/** Whether there may be one: what the settings of a provider are is looked at where it is made. */
const hasProvider = ({ IDENTITY_APP_ID }: Settings) => IDENTITY_APP_ID !== undefined;

interface IdentityContext {
  readonly settings: Settings;
  readonly publicUrl: string;
  readonly devAppSecret: string;
  readonly now: () => number;
  readonly logger: Logger;
}

/** The built-in issuer, and a verifier that reaches it by function call: the same protocol without the network. */
async function openDevIssuer({ settings, publicUrl, devAppSecret, now, logger }: IdentityContext) {
  const [{ createDevIssuer }, { createOidcVerifier }] = await Promise.all([
    import('../drivers/devIssuer/createDevIssuer.ts'),
    import('../drivers/oidc/createOidcVerifier.ts'),
  ]);
  const issuer = `${publicUrl}${DEV_ISSUER_PATH}`;
  const app = {
    appId: settings.IDENTITY_APP_ID ?? DEV_APP_ID,
    appSecret: settings.IDENTITY_APP_SECRET ?? devAppSecret,
  };
  const devIssuer = createDevIssuer({ issuer, ...app, directory: join(settings.DATA_DIR, 'identity'), now });
  const callIssuer: typeof globalThis.fetch = (input, init) => devIssuer.fetch(new Request(input, init));
  const tokens = createOidcVerifier({ issuer, ...app, allowInsecureHttp: true, fetch: callIssuer, now, logger });
  return { devIssuer, tokens };
}

/** Opens the issuer when it is first asked: a gateway whose storage nobody tries starts without the 60 modules for tokens. */
function createDevIdentity(context: IdentityContext): Identity {
  let opened: ReturnType<typeof openDevIssuer> | undefined;
  const open = () => {
    opened ??= openDevIssuer(context).catch((error: unknown) => {
      // A full disk, say, is not for ever.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    tokens: { verify: async (token) => await (await open()).tokens.verify(token) },
    mounts: [
      {
        prefix: `${DEV_ISSUER_PATH}/`,
        fetch: async (request) => await (await open()).devIssuer.fetch(request),
        withApiHeaders: true,
        localOnly: answersAdminLocally(context.settings),
      },
    ],
    usesDevIssuer: true,
  };
}

/** Chooses who vouches for users. */
export async function createIdentity(context: IdentityContext): Promise<Identity> {
  if (!hasProvider(context.settings)) return createDevIdentity(context);
  const { createProviderVerifier } = await import('./createProviderVerifier.ts');
  const tokens = createProviderVerifier(context);
  return tokens === undefined ? createDevIdentity(context) : { tokens, mounts: [], usesDevIssuer: false };
}
