import * as z from 'zod/mini';
import { fetchJson, type ProviderConnection } from './fetchJson.ts';
import { providerFault } from './providerFault.ts';

/** The provider's introspection endpoint and our client there. */
export interface IntrospectionContext {
  readonly endpoint: string;
  readonly appId: string;
  readonly appSecret: string;
  readonly connection: ProviderConnection;
}

const activeSchema = z.looseObject({
  active: z.literal(true),
  exp: z.nullish(z.number()),
  sub: z.optional(z.unknown()),
  iss: z.optional(z.unknown()),
  aud: z.optional(z.unknown()),
  client_id: z.optional(z.unknown()),
  token_type: z.optional(z.unknown()),
  token_use: z.optional(z.unknown()),
  cnf: z.optional(z.unknown()),
});
const inactiveSchema = z.looseObject({ active: z.literal(false) });
const refusalSchema = z.looseObject({ error: z.string() });

/** Token claims of an active token; all but `exp` still unchecked. */
export type ActiveToken = z.infer<typeof activeSchema>;

/** The provider's verdict on a token; `unknown`: it does not know tokens of this kind. */
export type Introspection =
  | { readonly outcome: 'active'; readonly claims: ActiveToken }
  | { readonly outcome: 'inactive' }
  | { readonly outcome: 'unknown' };

/** 400 answers that are about us and not about the token; RFC 6749, section 5.2. */
const REFUSALS_OF_CLIENT = new Set(['invalid_client', 'unauthorized_client', 'access_denied']);

/** `application/x-www-form-urlencoded`, as RFC 6749, section 2.3.1 wants each half of the credentials. */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function createCall({ endpoint, appId, appSecret }: IntrospectionContext, token: string) {
  const credentials = Buffer.from(`${formEncode(appId)}:${formEncode(appSecret)}`).toString('base64');
  return {
    url: endpoint,
    name: 'introspection',
    init: {
      method: 'POST',
      headers: { accept: 'application/json', authorization: `Basic ${credentials}` },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
    },
  };
}

/**
 * Asks the provider whether a token still holds.
 *
 * A 400 with an OAuth error about the token (`unsupported_token_type`, `invalid_request`) is how providers say that they
 * do not introspect its kind: oidc-provider does so for JWTs. It is `unknown`, and the caller decides.
 *
 * @param context - endpoint and credentials
 * @param token - the access token
 * @returns what the provider says
 * @throws DependencyUnavailableError when it refuses our credentials, fails, is late, or says something else
 * @see https://www.rfc-editor.org/rfc/rfc7662
 */
export async function introspectToken(context: IntrospectionContext, token: string): Promise<Introspection> {
  const { status, body } = await fetchJson(context.connection, createCall(context, token));
  if (status === 200) {
    const active = activeSchema.safeParse(body);
    if (active.success) return { outcome: 'active', claims: active.data };
    if (inactiveSchema.safeParse(body).success) return { outcome: 'inactive' };
    throw providerFault('introspection: not an introspection answer');
  }
  const refusal = refusalSchema.safeParse(body);
  if (status === 400 && refusal.success && !REFUSALS_OF_CLIENT.has(refusal.data.error)) return { outcome: 'unknown' };
  const advice =
    status === 400 || status === 401 || status === 403 ? '; check IDENTITY_APP_ID and IDENTITY_APP_SECRET' : '';
  throw providerFault(`introspection: answered ${status}${advice}`);
}
