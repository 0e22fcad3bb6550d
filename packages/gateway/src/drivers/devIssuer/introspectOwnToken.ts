import type { DevIssuerContext } from './devIssuerContext.ts';
import { readOwnToken } from './readOwnToken.ts';
import { requireClient } from './requireClient.ts';

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
