import * as z from 'zod/mini';
import { createRefreshedValue, type RefreshedValue } from './createRefreshedValue.ts';
import { fetchJson, type ProviderConnection } from './fetchJson.ts';
import { providerFault } from './providerFault.ts';
import { requireSecureUrl } from './requireSecureUrl.ts';

/** The parts of a provider's discovery document that this service needs. */
export interface ProviderMetadata {
  readonly jwksUri: string;
  /** Absent when the provider has no introspection endpoint. */
  readonly introspectionEndpoint?: string;
}

export interface DiscoveryOptions {
  /** Issuer identifier, exactly as the provider writes it in `iss`. */
  readonly issuer: string;
  readonly allowInsecureHttp: boolean;
  readonly connection: ProviderConnection;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Endpoints change with a provider's deployment, hardly ever; an hour bounds how long a change goes unnoticed. */
const MAX_AGE_MS = 60 * 60 * 1000;
/** Short enough to be back soon after an outage, long enough that the outage costs one attempt at a time. */
const BACKOFF_MS = 2_000;

const documentSchema = z.object({
  issuer: z.string(),
  jwks_uri: z.string(),
  introspection_endpoint: z.optional(z.string()),
});

async function loadMetadata(options: DiscoveryOptions): Promise<ProviderMetadata> {
  const { issuer, connection } = options;
  const name = 'discovery document';
  try {
    requireSecureUrl(issuer, options);
    // OpenID Connect Discovery 1.0, section 4: a terminating slash goes before the well-known path is appended.
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await fetchJson(connection, { url, name });
    if (answer.status !== 200) throw new TypeError(`answered ${answer.status}`);
    const parsed = documentSchema.safeParse(answer.body);
    if (!parsed.success) throw new TypeError('not a discovery document');
    const document = parsed.data;
    // Section 4.3: anything but the same text is another issuer's document.
    if (document.issuer !== issuer) throw new TypeError(`issuer is "${document.issuer}", configured is "${issuer}"`);
    const endpoint = document.introspection_endpoint;
    return {
      jwksUri: requireSecureUrl(document.jwks_uri, options).href,
      ...(endpoint === undefined ? {} : { introspectionEndpoint: requireSecureUrl(endpoint, options).href }),
    };
  } catch (error) {
    if (error instanceof TypeError) throw providerFault(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}

/**
 * Reads the provider's discovery document when it is first needed, and keeps it for an hour.
 *
 * @param options - the issuer and how to reach it
 * @returns the metadata's getter; it throws `DependencyUnavailableError` when there is no usable document
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 */
export function createDiscovery(options: DiscoveryOptions): RefreshedValue<ProviderMetadata> {
  return createRefreshedValue({
    load: () => loadMetadata(options),
    maxAgeMs: MAX_AGE_MS,
    cooldownMs: MAX_AGE_MS,
    backoffMs: BACKOFF_MS,
    now: options.now,
  });
}
