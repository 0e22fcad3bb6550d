import { TokenRejectedError } from '../../ports/errors.ts';

/** What Cognito and Hydra write of their access tokens; of others they write `id` or `refresh_token`. */
const ACCESS_USES: readonly unknown[] = ['access', 'access_token'];

/**
 * Refuses a token that is of another use, and one that its issuer has bound to a key: whoever merely holds such a one must not be let in.
 *
 * @param claims - of the JWT, or of an introspection answer
 * @throws TokenRejectedError for an ID or refresh token, a DPoP or certificate-bound token
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-7.2
 * @see https://www.rfc-editor.org/rfc/rfc8705#section-3
 */
export function requireBearer(claims: {
  readonly cnf?: unknown;
  readonly token_type?: unknown;
  readonly token_use?: unknown;
}): void {
  const { cnf, token_type: type, token_use: use } = claims;
  if (use !== undefined && use !== null && !ACCESS_USES.includes(use)) {
    throw new TokenRejectedError('The token is not an access token.');
  }
  if (cnf !== undefined && cnf !== null) throw new TokenRejectedError('The access token is bound to a key.');
  if (type === undefined || type === null) return;
  if (typeof type === 'string' && type.toLowerCase() === 'bearer') return;
  throw new TokenRejectedError('The token is not a bearer access token.');
}
