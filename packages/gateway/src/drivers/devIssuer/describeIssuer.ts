import { DEV_ISSUER_ALGORITHM } from './devIssuerAlgorithm.ts';
import type { DevIssuerContext } from './devIssuerContext.ts';

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
