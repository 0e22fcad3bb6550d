import { errors, type JWTPayload, jwtVerify } from 'jose';
import { type DevIssuerContext, RefusalError, readBody, requireClient } from './devIssuerContext.ts';
import { DEV_ISSUER_ALGORITHM } from './loadOrCreateKey.ts';

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

/**
 * `POST …/introspect`: whether a token still holds.
 *
 * @param context - the issuer
 * @param request - HTTP Basic by app id and secret; body `token=…`, form-encoded
 * @returns 200 `{ active, … }`
 * @throws RefusalError 400, 401, 413, 415
 * @see https://www.rfc-editor.org/rfc/rfc7662#section-2
 */
export async function introspectOwnToken(context: DevIssuerContext, request: Request): Promise<Response> {
  requireClient(context, request.headers.get('authorization'));
  const token = await readOwnToken(context, request);
  const active = token !== undefined && !(await context.revocations.has(token));
  const answer = active ? { active, ...token, token_type: 'Bearer' } : { active };
  return Response.json(answer, { headers: { 'cache-control': 'no-store' } });
}

/**
 * `POST …/revoke`: ends a token. In development its holder may do so without the app's credentials.
 *
 * @param context - the issuer
 * @param request - body `token=…`, form-encoded; HTTP Basic is checked when it is there
 * @returns 200, for an unknown token too
 * @throws RefusalError 400, 401, 413, 415
 * @see https://www.rfc-editor.org/rfc/rfc7009#section-2
 */
export async function revokeOwnToken(context: DevIssuerContext, request: Request): Promise<Response> {
  const authorization = request.headers.get('authorization');
  if (authorization !== null) requireClient(context, authorization);
  const token = await readOwnToken(context, request);
  if (token !== undefined) await context.revocations.add(token);
  return Response.json({}, { headers: { 'cache-control': 'no-store' } });
}
