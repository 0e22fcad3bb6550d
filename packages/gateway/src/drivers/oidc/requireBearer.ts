import { TokenRejectedError } from '../../ports/errors.ts';

/**
 * Refuses a token that its issuer has bound to a key: whoever merely holds it must not be let in.
 *
 * @param claims - of the JWT, or of an introspection answer
 * @throws TokenRejectedError for a DPoP or certificate-bound token
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-7.2
 * @see https://www.rfc-editor.org/rfc/rfc8705#section-3
 */
export function requireBearer(claims: { readonly cnf?: unknown; readonly token_type?: unknown }): void {
  const { cnf, token_type: type } = claims;
  if (cnf !== undefined && cnf !== null) throw new TokenRejectedError('The access token is bound to a key.');
  if (type === undefined || type === null) return;
  if (typeof type === 'string' && type.toLowerCase() === 'bearer') return;
  throw new TokenRejectedError('The token is not a bearer access token.');
}
