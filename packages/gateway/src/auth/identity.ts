import { unauthenticated } from '../http/errors.ts';
import type { HeaderReader } from '../http/request.ts';
import type { TokenVerifier, VerifiedUser } from '../ports/tokenVerifier.ts';

/** Longest bearer token that is looked at, in characters. */
const MAX_TOKEN_LENGTH = 16_384;

const bearer = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/**
 * Authenticates the user behind `Authorization: Bearer …`.
 *
 * @throws ApiError TOKEN_REJECTED; DependencyUnavailableError when the identity provider does not answer
 * @see docs/specification.md SIGN-5; RFC 6750 section 2.1
 */
export async function authenticateUser(
  verifier: TokenVerifier,
  request: { readonly headers: HeaderReader },
): Promise<VerifiedUser> {
  const header = request.headers.get('authorization');
  if (header === null) {
    throw unauthenticated('TOKEN_REJECTED', 'The Authorization header is missing; send Bearer and an access token.');
  }
  const token = header.length > MAX_TOKEN_LENGTH ? undefined : bearer.exec(header)?.[1];
  if (token === undefined) {
    throw unauthenticated('TOKEN_REJECTED', 'The Authorization header is not Bearer and an access token.');
  }
  return await verifier.verify(token);
}
