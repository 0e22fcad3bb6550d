import { errors } from 'jose';
import { TokenRejectedError } from '../../ports/errors.ts';

/** Sentences for the caller, by the token claim that failed. */
const CLAIM_SENTENCES: Readonly<Record<string, string>> = {
  iss: 'The access token is from another issuer.',
  aud: 'The access token is for another audience.',
  nbf: 'The access token is not valid yet.',
};

function sentenceOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The access token has expired.';
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

/**
 * Says in a sentence why a JWT was refused.
 *
 * @param error - what jose threw while it verified the token
 * @returns the port's error; the token's own text is never in it
 */
export function rejectionOf(error: errors.JOSEError): TokenRejectedError {
  return new TokenRejectedError(sentenceOf(error));
}
