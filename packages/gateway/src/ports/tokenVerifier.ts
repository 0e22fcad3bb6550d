/** Who a bearer token speaks for. */
export interface VerifiedUser {
  /** `iss` of the token, as the provider writes it. */
  readonly issuer: string;
  /** `sub` of the token. */
  readonly userId: string;
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/**
 * Port: checks an identity provider's access token.
 *
 * `verify` resolves for a token that is good now, and otherwise throws
 * `TokenRejectedError` (missing, malformed, expired, revoked, for another audience: 401) or
 * `DependencyUnavailableError` (the provider does not answer or is misconfigured: 503, never open).
 *
 * @see docs/specification.md SIGN-5
 */
export interface TokenVerifier {
  verify(token: string): Promise<VerifiedUser>;
}
