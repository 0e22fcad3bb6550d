import type { DevIssuerContext } from './devIssuerContext.ts';
import { readOwnToken } from './readOwnToken.ts';
import { requireClient } from './requireClient.ts';

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
