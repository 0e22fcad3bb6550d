import {
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { TokenRejectedError } from '../../ports/errors.ts';
import type { VerifiedUser } from '../../ports/tokenVerifier.ts';
import type { RefreshedValue } from './createRefreshedValue.ts';
import { providerFault } from './providerFault.ts';
import { CLOCK_TOLERANCE_SECONDS, readUserId, requireBearer, toExpiresAtMs } from './tokenClaims.ts';

/** Rules for a valid JWT. */
export interface JwtRules {
  readonly issuer: string;
  /** The app's id; `aud` must contain it. */
  readonly audience: string;
  /** JWS algorithms; asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Further token claims that must be there as non-empty strings. */
  readonly requiredClaims: readonly string[];
  /** Longest time since `iat`, in seconds, which then must be there; 0: any. */
  readonly maxAgeSeconds: number;
  readonly keys: RefreshedValue<JWTVerifyGetKey>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Enough for a rotation in which old and new keys carry no `kid`. */
const MAX_KEYS_TRIED = 8;
/** `at_hash`, `c_hash`: OpenID Connect Core, 3.1.3.6 and 3.3.2.11. `events`: RFC 8417, section 2.2. */
const FOREIGN_CLAIMS = ['at_hash', 'c_hash', 'events'];
/** RFC 9068, section 2.2, and `scp`, as some write `scope`. */
const ACCESS_CLAIMS = ['client_id', 'scope', 'scp'];

async function verifyWithEach(keys: errors.JWKSMultipleMatchingKeys, token: string, options: JWTVerifyOptions) {
  let tried = 0;
  for await (const key of keys) {
    tried += 1;
    if (tried > MAX_KEYS_TRIED) break;
    try {
      return await jwtVerify(token, key, options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

async function verifyWithKeys(findKey: JWTVerifyGetKey, token: string, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(token, findKey, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return verifyWithEach(error, token, options);
  }
}

/** Whether newer keys may help: a new key may carry no `kid`, or an old one's. */
function mayBeOldKeys(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}

async function verifySignatureAndClaims(rules: JwtRules, token: string): Promise<JWTVerifyResult> {
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    issuer: rules.issuer,
    audience: rules.audience,
    requiredClaims: ['exp', 'sub', ...rules.requiredClaims],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    currentDate: new Date(rules.now()),
    ...(rules.maxAgeSeconds > 0 && { maxTokenAge: rules.maxAgeSeconds }),
  };
  const known = await rules.keys.get();
  try {
    return await verifyWithKeys(known, token, options);
  } catch (error) {
    if (!mayBeOldKeys(error)) throw error;
    const renewed = await rules.keys.renew();
    if (renewed === known) throw error;
    return await verifyWithKeys(renewed, token, options);
  }
}

/** `nonce` ties an ID token to a sign-in; a few providers copy it into access tokens, which name a client or a scope. */
function isNonceOfIdToken(payload: JWTPayload): boolean {
  return Object.hasOwn(payload, 'nonce') && !ACCESS_CLAIMS.some((claim) => Object.hasOwn(payload, claim));
}

/**
 * Refuses a good JWT of this issuer that is plainly something else than an access token.
 *
 * An ID token has the same `iss`, `aud` and signature, and `typ: at+jwt` cannot be demanded because many providers do
 * not write it. So a token is refused for what the standards give to other kinds only: an explicit `typ` of another kind
 * (RFC 8725, section 3.11), the token claims above, a sign-in's `nonce`. `auth_time`, `acr` and `amr` are left alone: RFC
 * 9068 allows them. If the provider introspects JWTs, it calls an ID token inactive in any case.
 */
function requireAccessToken({ payload, protectedHeader }: JWTVerifyResult): void {
  const { typ } = protectedHeader;
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  if (type === 'at+jwt') return;
  const foreignType = type !== undefined && type !== 'jwt';
  const foreignClaim = FOREIGN_CLAIMS.some((claim) => Object.hasOwn(payload, claim));
  if (!foreignType && !foreignClaim && !isNonceOfIdToken(payload)) return;
  throw new TokenRejectedError('The token is not an access token.');
}

function requireTextClaims(payload: JWTPayload, claims: readonly string[]): void {
  for (const claim of claims) {
    const value = payload[claim];
    if (typeof value !== 'string' || value === '') {
      throw new TokenRejectedError(`The access token has no usable "${claim}" claim.`);
    }
  }
}

/**
 * Refuses a signature in another encoding than the one that encoders write: bits of the last character that stand for nothing
 * would let one token pass as several, of which a provider may know just one as revoked. (An ECDSA signature has a second value
 * besides, which anybody can compute and no JWT library refuses: a provider does well to remember tokens by their claims.)
 *
 * @see https://www.rfc-editor.org/rfc/rfc4648#section-3.5
 */
function requireCanonicalSignature(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  if (Buffer.from(signature, 'base64url').toString('base64url') === signature) return;
  throw new TokenRejectedError('The access token is malformed.');
}

/**
 * Verifies a JWT access token on the spot: signature, issuer, audience, times, user, kind.
 *
 * @param rules - what a good one must be
 * @param token - compact JWS
 * @returns whom it speaks for
 * @throws TokenRejectedError when the token is at fault
 * @throws DependencyUnavailableError when the provider's keys cannot be had or used
 * @see https://www.rfc-editor.org/rfc/rfc8725
 */
export async function verifyJwt(rules: JwtRules, token: string): Promise<VerifiedUser> {
  requireCanonicalSignature(token);
  let result: JWTVerifyResult;
  try {
    result = await verifySignatureAndClaims(rules, token);
  } catch (error) {
    if (error instanceof errors.JOSEError) throw rejectionOf(error);
    // jose throws a TypeError for a key that is too weak; a `DependencyUnavailableError` of the key set stays itself.
    throw error instanceof TypeError ? providerFault('key set: holds an unusable key', { cause: error }) : error;
  }
  requireAccessToken(result);
  requireBearer({ cnf: result.payload.cnf, token_use: result.payload.token_use });
  requireTextClaims(result.payload, rules.requiredClaims);
  // jose has checked that `exp` is there and a number.
  const { exp, iat = 0 } = result.payload as { readonly exp: number; readonly iat?: number };
  // Nothing that is signed by it outlives it.
  const endsAt = rules.maxAgeSeconds > 0 ? Math.min(exp, iat + rules.maxAgeSeconds) : exp;
  const expiresAtMs = toExpiresAtMs(endsAt);
  return { issuer: rules.issuer, userId: readUserId(result.payload.sub), expiresAtMs };
}

/** Sentences for the caller, by the token claim that failed. */
const CLAIM_SENTENCES: Readonly<Record<string, string>> = {
  iss: 'The access token is from another issuer.',
  aud: 'The access token is for another audience.',
  nbf: 'The access token is not valid yet.',
};

function sentenceOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired)
    return error.claim === 'iat' ? 'The access token is too old.' : 'The access token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const known = error.reason === 'check_failed' ? CLAIM_SENTENCES[error.claim] : undefined;
    return known ?? `The access token has no usable "${error.claim}" claim.`;
  }
  if (error.code === 'ERR_JOSE_ALG_NOT_ALLOWED')
    return 'The access token is signed with an algorithm not accepted here.';
  if (error.code === 'ERR_JWKS_NO_MATCHING_KEY')
    return 'The access token is signed with a key that its issuer does not publish.';
  if (error.code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'The access token has a wrong signature.';
  return 'The access token is malformed.';
}

/** Says in a sentence why a JWT was refused. */
function rejectionOf(error: errors.JOSEError): TokenRejectedError {
  return new TokenRejectedError(sentenceOf(error));
}
