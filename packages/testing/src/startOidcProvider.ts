import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { listenOnLoopback } from './listenOnLoopback.ts';

/** A running oidc-provider with one confidential client. */
export interface OidcProvider extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly issuer: string;
  readonly appId: string;
  readonly appSecret: string;
  /** An opaque access token as the authorization code flow would end in. */
  issueOpaque(sub: string, options?: IssueOptions): Promise<string>;
  /** A JWT access token (`typ: at+jwt`) for the app's resource server. */
  issueJwt(sub: string, options?: IssueOptions): Promise<string>;
  /** An ID token: same issuer, audience and key, another purpose. */
  issueIdToken(sub: string): Promise<string>;
  /** RFC 7009; oidc-provider refuses it for JWTs. */
  revoke(token: string): Promise<void>;
  close(): Promise<void>;
}

export interface IssueOptions {
  /** Default 3600. */
  readonly lifetimeSeconds?: number;
}

interface Savable {
  save(ttlSeconds?: number): Promise<string>;
}

/** The part of the package that is used here; it has no type declarations. */
interface Provider {
  callback(): RequestListener;
  readonly Client: { find(id: string): Promise<object> };
  readonly Grant: new (fields: object) => Savable & { addOIDCScope(scope: string): void };
  readonly AccessToken: new (fields: object) => Savable;
  readonly IdToken: new (
    available: object,
    context: object,
  ) => { scope: string; set(name: string, value: unknown): void; issue(o: object): Promise<string> };
  readonly ResourceServer: new (identifier: string, fields: object) => object;
}
type ProviderConstructor = new (issuer: string, configuration: object) => Provider;

const APP_ID = 'prism-app';
const APP_SECRET = 'not-a-secret-of-anyone';
const RESOURCE = 'https://prism.example/storage';

async function createConfiguration(): Promise<object> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    adapter: createMemoryAdapter(),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'one' }] },
    cookies: { keys: ['not-a-secret'] },
    clients: [
      {
        client_id: APP_ID,
        client_secret: APP_SECRET,
        redirect_uris: ['https://app.example/callback'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
    },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: () => '/' },
    ttl: { Grant: 86_400, AccessToken: 3_600, IdToken: 3_600, Session: 86_400, Interaction: 3_600 },
  };
}

async function createProvider(issuer: string): Promise<Provider> {
  // @ts-expect-error The package has no type declarations; `Provider` above names what is used of it.
  const { default: ProviderClass }: { default: ProviderConstructor } = await import('oidc-provider');
  return new ProviderClass(issuer, await createConfiguration());
}

export interface OidcProviderOptions {
  /** Puts something in front of it, like a proxy: takes its own address, and gives the one that it is to call itself by. */
  readonly publish?: (address: string) => Promise<string>;
}

/**
 * Starts a real OpenID provider (oidc-provider) on 127.0.0.1, with discovery, key set, introspection and revocation.
 * Its clock is the machine's.
 *
 * @returns the running provider, and a way to get tokens without a browser
 */
export async function startOidcProvider({ publish }: OidcProviderOptions = {}): Promise<OidcProvider> {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  const server = await listenOnLoopback(createServer((request, response) => answer(request, response)));
  const issuer = publish === undefined ? server.url : await publish(server.url);
  const provider = await createProvider(issuer);
  answer = provider.callback();
  const client = await provider.Client.find(APP_ID);

  async function issue(sub: string, fields: object): Promise<string> {
    const grant = new provider.Grant({ accountId: sub, clientId: APP_ID });
    grant.addOIDCScope('openid');
    const grantId = await grant.save();
    const common = { accountId: sub, client, grantId, gty: 'authorization_code', scope: 'openid' };
    return new provider.AccessToken({ ...common, ...fields }).save();
  }

  return {
    issuer,
    appId: APP_ID,
    appSecret: APP_SECRET,
    issueOpaque: (sub, { lifetimeSeconds = 3600 } = {}) => issue(sub, { expiresIn: lifetimeSeconds }),
    issueJwt: (sub, { lifetimeSeconds = 3600 } = {}) => {
      const jwt = { sign: { alg: 'ES256' } };
      const fields = { audience: APP_ID, scope: 'openid', accessTokenFormat: 'jwt', jwt };
      const resourceServer = new provider.ResourceServer(RESOURCE, fields);
      return issue(sub, { expiresIn: lifetimeSeconds, resourceServer });
    },
    async issueIdToken(sub) {
      const token = new provider.IdToken({ sub }, { ctx: { oidc: { client } }, client });
      token.scope = 'openid';
      token.set('at_hash', 'x');
      return token.issue({ use: 'idtoken' });
    },
    async revoke(token) {
      const authorization = `Basic ${Buffer.from(`${APP_ID}:${APP_SECRET}`).toString('base64')}`;
      const body = new URLSearchParams({ token });
      const response = await fetch(`${server.url}/token/revocation`, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      if (response.status !== 200) throw new Error(`revocation answered ${response.status}`);
    },
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

/** oidc-provider's storage interface, as far as tokens need it. */
interface Adapter {
  upsert(id: string, payload: Readonly<Record<string, unknown>>): Promise<void>;
  find(id: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/**
 * Creates storage for one oidc-provider: its own default warns on the console and is shared by all providers of a process.
 *
 * @returns the factory that oidc-provider calls with each model's name
 */
function createMemoryAdapter(): (model: string) => Adapter {
  const records = new Map<string, Readonly<Record<string, unknown>>>();

  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    return {
      async upsert(id, payload) {
        records.set(keyOf(id), payload);
      },
      async find(id) {
        return records.get(keyOf(id));
      },
      async consume(id) {
        records.set(keyOf(id), { ...records.get(keyOf(id)), consumed: true });
      },
      async destroy(id) {
        records.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key);
      },
    };
  };
}
