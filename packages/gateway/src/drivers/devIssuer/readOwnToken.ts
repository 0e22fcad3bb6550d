import { errors, type JWTPayload, jwtVerify } from 'jose';
import { DEV_ISSUER_ALGORITHM } from './devIssuerAlgorithm.ts';
import type { DevIssuerContext } from './devIssuerContext.ts';
import { readBody } from './readBody.ts';
import { RefusalError } from './refusalError.ts';

/** Token claims that every token of this issuer has. */
export type OwnToken = JWTPayload & { readonly jti: string; readonly exp: number };

/** The gateway lets a token in up to 5 s past `exp`; the judgement stays with the gateway. */
const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * Reads the form parameter `token` of an introspection or revocation.
 *
 * @param context - the issuer
 * @param request - body `token=…`, form-encoded
 * @returns the token claims, or undefined when it is no token of this issuer's or has expired
 * @throws RefusalError 400, 413, 415
 */
export async function readOwnToken(context: DevIssuerContext, request: Request): Promise<OwnToken | undefined> {
  const form = new URLSearchParams(await readBody(request, 'application/x-www-form-urlencoded'));
  const [token, ...more] = form.getAll('token');
  if (token === undefined || token === '' || more.length > 0) {
    throw new RefusalError('The form must have the parameter "token" once.', { status: 400 });
  }
  const { publicKey } = await context.key();
  try {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [DEV_ISSUER_ALGORITHM],
      issuer: context.issuer,
      audience: context.appId,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(context.now()),
    });
    // Signed by our own key, so it is as `issueToken` made it.
    return payload as OwnToken;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
