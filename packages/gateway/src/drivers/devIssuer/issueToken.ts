import { parseWith } from '@prism-gateway/protocol';
import { SignJWT } from 'jose';
import * as z from 'zod/mini';
import type { DevIssuerContext } from './devIssuerContext.ts';
import { RefusalError, readBody } from './devIssuerContext.ts';
import { DEV_ISSUER_ALGORITHM } from './loadOrCreateKey.ts';

/** OpenID Connect Core, section 2, `sub`. */
const MAX_SUB_LENGTH = 255;
const MAX_LIFETIME_SECONDS = 86_400;
const DEFAULT_LIFETIME_SECONDS = 3_600;
const subMessage = `expected 1 to ${MAX_SUB_LENGTH} characters`;
const expiresInMessage = `expected whole seconds, 1 to ${MAX_LIFETIME_SECONDS}`;

const bodySchema = z.strictObject(
  {
    sub: z.string(subMessage).check(
      z.minLength(1, subMessage),
      z.maxLength(MAX_SUB_LENGTH, subMessage),
      z.refine((text) => text.isWellFormed(), 'expected whole Unicode characters'),
    ),
    expiresIn: z.optional(
      z.int(expiresInMessage).check(z.gte(1, expiresInMessage), z.lte(MAX_LIFETIME_SECONDS, expiresInMessage)),
    ),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'expected an object' : undefined) },
);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusalError('The body is not valid JSON.', { status: 400 });
  }
}

/**
 * `POST …/token`: an access token for any user, for the asking. This is why there is no such issuer in `prod`.
 *
 * @param context - the issuer
 * @param request - body `{ "sub": "alice", "expiresIn"?: seconds }`
 * @returns 200 `{ access_token, token_type, expires_in }`
 * @throws RefusalError 400, 413, 415
 */
export async function issueToken(context: DevIssuerContext, request: Request): Promise<Response> {
  const parsed = parseWith(bodySchema, parseJson(await readBody(request, 'application/json')));
  if ('faults' in parsed) throw new RefusalError('The body is not valid.', { status: 400, details: parsed.faults });
  const { sub, expiresIn = DEFAULT_LIFETIME_SECONDS } = parsed.value;
  const { privateKey, kid } = await context.key();
  const issuedAt = Math.floor(context.now() / 1000);
  const token = await new SignJWT({ client_id: context.appId })
    .setProtectedHeader({ alg: DEV_ISSUER_ALGORITHM, kid, typ: 'at+jwt' })
    .setIssuer(context.issuer)
    .setAudience(context.appId)
    .setSubject(sub)
    .setJti(context.newId())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresIn)
    .sign(privateKey);
  const answer = { access_token: token, token_type: 'Bearer', expires_in: expiresIn };
  return Response.json(answer, { headers: { 'cache-control': 'no-store' } });
}
