import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { DependencyUnavailableError } from '../../ports/errors.ts';
import { createRefreshedValue } from './createRefreshedValue.ts';
import { fetchJson, type ProviderConnection } from './fetchJson.ts';
import { providerFault } from './providerFault.ts';

export interface KeySetOptions {
  /** Where the keys are; asked at each loading, because discovery may move them. */
  readonly jwksUri: () => Promise<string>;
  readonly connection: ProviderConnection;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A key that the provider has withdrawn is trusted at most this much longer. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** An unknown `kid` may be a new key or a stranger's invention: at most one look in this time. */
const COOLDOWN_MS = 10_000;
const BACKOFF_MS = 2_000;

async function loadKeys({ jwksUri, connection }: KeySetOptions): Promise<JWTVerifyGetKey> {
  const name = 'key set';
  const answer = await fetchJson(connection, { url: await jwksUri(), name });
  if (answer.status !== 200) throw providerFault(`${name}: answered ${answer.status}`);
  try {
    // jose checks the shape itself and throws ERR_JWKS_INVALID for anything else.
    return createLocalJWKSet(answer.body as JSONWebKeySet);
  } catch (error) {
    throw providerFault(`${name}: not a JSON Web Key Set`, { cause: error });
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof errors.JOSEError && error.code === code;
}

/** A token can cause these two; any other failure to get a key is the key set's own. */
function isTokensDoing(error: unknown): boolean {
  return hasCode(error, 'ERR_JWKS_NO_MATCHING_KEY') || hasCode(error, 'ERR_JWKS_MULTIPLE_MATCHING_KEYS');
}

/**
 * Finds the provider's key for a token, and looks again, seldom, when it is not among those known (key rotation).
 *
 * @param options - where the keys are and how to reach them
 * @returns jose's key resolver; it throws `ERR_JWKS_NO_MATCHING_KEY` and `ERR_JWKS_MULTIPLE_MATCHING_KEYS`, or
 *   `DependencyUnavailableError` when the key set cannot be had or used
 * @see https://openid.net/specs/openid-connect-core-1_0.html#RotateSigKeys
 */
export function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const keySet = createRefreshedValue({
    load: () => loadKeys(options),
    maxAgeMs: MAX_AGE_MS,
    cooldownMs: COOLDOWN_MS,
    backoffMs: BACKOFF_MS,
    now: options.now,
  });

  return async (header, token) => {
    try {
      const known = await keySet.get();
      try {
        return await known(header, token);
      } catch (error) {
        if (!hasCode(error, 'ERR_JWKS_NO_MATCHING_KEY')) throw error;
      }
      const renewed = await keySet.renew();
      return await renewed(header, token);
    } catch (error) {
      if (isTokensDoing(error) || error instanceof DependencyUnavailableError) throw error;
      throw providerFault('key set: holds an unusable key', { cause: error });
    }
  };
}
