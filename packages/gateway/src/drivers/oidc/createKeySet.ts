import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { createRefreshedValue, type RefreshedValue } from './createRefreshedValue.ts';
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
/** An unknown `kid` or a wrong signature may come of a new key or of a stranger's invention: at most one look in this time. */
const COOLDOWN_MS = 10_000;
const BACKOFF_MS = 2_000;

function hasCode(error: unknown, code: string): boolean {
  return error instanceof errors.JOSEError && error.code === code;
}

/** A token can cause these two; any other failure to get a key is the key set's own. */
function isTokensDoing(error: unknown): boolean {
  return hasCode(error, 'ERR_JWKS_NO_MATCHING_KEY') || hasCode(error, 'ERR_JWKS_MULTIPLE_MATCHING_KEYS');
}

function createFinder(keySet: JSONWebKeySet): JWTVerifyGetKey {
  const find = createLocalJWKSet(keySet);
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      if (isTokensDoing(error)) throw error;
      throw providerFault('key set: holds an unusable key', { cause: error });
    }
  };
}

async function loadKeys({ jwksUri, connection }: KeySetOptions): Promise<JWTVerifyGetKey> {
  const name = 'key set';
  const answer = await fetchJson(connection, { url: await jwksUri(), name });
  if (answer.status !== 200) throw providerFault(`${name}: answered ${answer.status}`);
  try {
    // jose checks the shape itself and throws ERR_JWKS_INVALID for anything else.
    return createFinder(answer.body as JSONWebKeySet);
  } catch (error) {
    throw providerFault(`${name}: not a JSON Web Key Set`, { cause: error });
  }
}

/**
 * Keeps the provider's keys, and looks again, seldom, when they do not suffice (key rotation).
 *
 * @param options - where the keys are and how to reach them
 * @returns jose's key resolver, another one after each loading; it throws `ERR_JWKS_NO_MATCHING_KEY` and
 *   `ERR_JWKS_MULTIPLE_MATCHING_KEYS`. Itself or its getters throw `DependencyUnavailableError` when the key set cannot be had or used
 * @see https://openid.net/specs/openid-connect-core-1_0.html#RotateSigKeys
 */
export function createKeySet(options: KeySetOptions): RefreshedValue<JWTVerifyGetKey> {
  return createRefreshedValue({
    load: () => loadKeys(options),
    maxAgeMs: MAX_AGE_MS,
    cooldownMs: COOLDOWN_MS,
    backoffMs: BACKOFF_MS,
    now: options.now,
  });
}
