import type { Access } from '@prism-gateway/protocol';
import type { SecurityRequirement } from '../document.ts';
import { RELAYER_AUTH_RULES, RELAYER_AUTH_WORKED_EXAMPLE } from '../text/relayerAuth.ts';

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

/**
 * The ways to authenticate.
 *
 * @see docs/specification.md AUTH-1, ADMIN-1, TOKEN-1
 */
export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      "Access token of the configured identity provider. The token's user decides which objects can be reached. A missing, expired or revoked token is a 401 (5 seconds of tolerance between clocks; where the provider offers introspection, a revocation holds within 15 seconds); a provider that does not answer, a 503.",
  },
  relayerAddress: header(
    'X-Relayer-Address',
    "The relayer's Ethereum address. All three `X-Relayer-…` headers go together.",
  ),
  relayerTimestamp: header(
    'X-Relayer-Timestamp',
    "Unix time in milliseconds, within 5 minutes of the service's clock; it is the second line of the signed text.",
  ),
  relayerSignature: header('X-Relayer-Signature', `${RELAYER_AUTH_RULES}\n\n${RELAYER_AUTH_WORKED_EXAMPLE}`),
  adminKey: header(
    'X-Admin-Key',
    "The administrator's key: the value of the setting `ADMIN_API_KEY`, exactly; during a rotation two keys are valid at once. In the development stage it is `change-me-admin-key` unless set.",
  ),
} as const;

const RELAYER: SecurityRequirement = { relayerAddress: [], relayerTimestamp: [], relayerSignature: [] };

/** What a caller of each access level has to bring; nothing for public routes. */
export const SECURITY_OF_ACCESS: Readonly<Record<Access, readonly SecurityRequirement[]>> = {
  public: [],
  identity: [{ bearer: [] }],
  relayer: [RELAYER],
  admin: [{ adminKey: [] }],
};

/** Nothing, or a relayer's proof: the call's query decides. */
export const OPTIONAL_RELAYER: readonly SecurityRequirement[] = [{}, RELAYER];
