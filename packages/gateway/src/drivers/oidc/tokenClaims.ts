import { TokenRejectedError } from '../../ports/errors.ts';

/** `token_use` values of access tokens by Cognito and Hydra; of other tokens they write `id` or `refresh_token`. */
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

/**
 * How far the provider's clock and ours may differ on `exp` and `nbf`.
 *
 * @see docs/specification.md TOKEN-1
 */
export const CLOCK_TOLERANCE_SECONDS = 5;

/** Last moment that a `Date` can hold; ECMAScript, "Time Values and Time Range". */
const LAST_TIME_MS = 8_640_000_000_000_000;

/**
 * Turns a token's `exp` into our unit.
 *
 * @param exp - NumericDate: seconds since the epoch, perhaps with a fraction
 * @returns milliseconds since the epoch, whole, within what a `Date` can hold
 */
export function toExpiresAtMs(exp: number): number {
  return Math.min(Math.floor(exp * 1000), LAST_TIME_MS);
}

/**
 * Reads the user's id from a `sub`.
 *
 * @param sub - as the provider gave it
 * @returns a non-empty string of whole Unicode characters
 * @throws TokenRejectedError when it is anything else
 */
export function readUserId(sub: unknown): string {
  // A lone surrogate is refused because UTF-8 turns each into the same U+FFFD: two users would share one object path.
  if (typeof sub === 'string' && sub !== '' && sub.isWellFormed()) return sub;
  throw new TokenRejectedError('The access token has no usable "sub" claim.');
}
