import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose';
import { listenOnLoopback } from './listenOnLoopback.ts';
import { type Misbehaviour, misbehave } from './misbehave.ts';

type Claims = Readonly<Record<string, unknown>>;

/** An OpenID provider of its own make, that can be set to fail. */
export interface JwtIssuer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly issuer: string;
  readonly appId: string;
  readonly appSecret: string;
  /** Calls so far, by endpoint. */
  readonly calls: Readonly<Record<JwtIssuerEndpoint, number>>;
  /**
   * Signs an access token with the current key.
   *
   * @param claims - over the defaults (`sub` alice, an hour's life); `undefined` takes one away
   * @param header - over the defaults (`alg`, `kid`)
   */
  sign(claims?: Claims, header?: Claims): Promise<string>;
  /** Makes an opaque token of which introspection says so; `undefined` takes a default member away. */
  issueOpaque(claims?: Claims): string;
  revoke(token: string): void;
  /** Signs with a new key from now on; the old one is no longer published unless it is kept. */
  rotateKey(options?: {
    readonly alg?: string;
    readonly keepOld?: boolean;
    readonly withoutKid?: boolean;
  }): Promise<void>;
  /** The current key's public part. */
  publicKey(): Promise<{ readonly kid: string; readonly pem: string }>;
  /** How an endpoint answers from now on; `undefined`: as it should. */
  behave(endpoint: JwtIssuerEndpoint, behaviour: Misbehaviour | undefined): void;
  close(): Promise<void>;
}

export interface JwtIssuerOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Whether discovery names an introspection endpoint; default no. */
  readonly introspection?: boolean;
}

const LIFETIME_SECONDS = 3600;

async function createState(introspection: boolean): Promise<JwtIssuerState> {
  const key = await createSigningKey({ alg: 'ES256', withoutKid: false });
  return {
    appId: 'prism test/app',
    // Every kind of character that the form encoding of credentials must carry over.
    appSecret: 'not-a-secret: +%&é',
    introspection,
    current: key,
    published: [key],
    tokens: new Map(),
    revoked: new Set(),
    calls: { discovery: 0, keys: 0, introspection: 0 },
    behaviours: new Map(),
  };
}

async function signToken(state: JwtIssuerState, { claims, header }: { claims: Claims; header: Claims }) {
  const { alg, kid, privateKey } = state.current;
  const token = await new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  state.tokens.set(token, {});
  return token;
}

/**
 * Starts an OpenID provider on 127.0.0.1 that shares no code with the one under test: discovery, key set, RFC 7662
 * introspection, rotating keys, counted calls, and every way to fail.
 *
 * @param options - clock, and whether it introspects
 * @returns the running issuer
 */
export async function startJwtIssuer(options: JwtIssuerOptions = {}): Promise<JwtIssuer> {
  const seconds = () => Math.floor((options.now ?? Date.now)() / 1000);
  const state = await createState(options.introspection === true);
  const server = await listenOnLoopback(createServer(createJwtIssuerHandler(state, () => server.url)));

  return {
    issuer: server.url,
    appId: state.appId,
    appSecret: state.appSecret,
    calls: state.calls,
    sign(claims, header = {}) {
      const times = { iat: seconds(), exp: seconds() + LIFETIME_SECONDS };
      return signToken(state, {
        claims: { iss: server.url, aud: state.appId, sub: 'alice', ...times, ...claims },
        header,
      });
    },
    issueOpaque(claims) {
      const token = randomUUID();
      const exp = seconds() + LIFETIME_SECONDS;
      state.tokens.set(token, { iss: server.url, client_id: state.appId, sub: 'alice', exp, ...claims });
      return token;
    },
    revoke(token) {
      state.revoked.add(token);
    },
    async rotateKey({ alg = 'ES256', keepOld = false, withoutKid = false } = {}) {
      state.current = await createSigningKey({ alg, withoutKid });
      state.published = keepOld ? [...state.published, state.current] : [state.current];
    },
    async publicKey() {
      return { kid: state.current.kid, pem: await exportSPKI(state.current.publicKey) };
    },
    behave(endpoint, behaviour) {
      if (behaviour === undefined) state.behaviours.delete(endpoint);
      else state.behaviours.set(endpoint, behaviour);
    },
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

const ENDPOINTS: Readonly<Record<string, JwtIssuerEndpoint>> = {
  '/.well-known/openid-configuration': 'discovery',
  '/keys': 'keys',
  '/introspection': 'introspection',
};

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function describe(issuer: string, { introspection }: JwtIssuerState) {
  const endpoint = introspection ? { introspection_endpoint: `${issuer}/introspection` } : {};
  return { issuer, jwks_uri: `${issuer}/keys`, ...endpoint };
}

/** RFC 6749, section 2.3.1: each half form-encoded, then Basic. */
function isClient(request: IncomingMessage, { appId, appSecret }: JwtIssuerState): boolean {
  const encoded = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const halves = Buffer.from(encoded, 'base64').toString().split(':');
  const [id, secret, ...more] = halves.map((half) => decodeURIComponent(half.replaceAll('+', ' ')));
  return id === appId && secret === appSecret && more.length === 0;
}

async function introspect(state: JwtIssuerState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  if (!isClient(request, state)) return sendJson(response, 401, { error: 'invalid_client' });
  const token = form.get('token') ?? '';
  const claims = state.revoked.has(token) ? undefined : state.tokens.get(token);
  sendJson(response, 200, claims === undefined ? { active: false } : { active: true, ...claims });
}

/**
 * The HTTP side of a JWT issuer.
 *
 * @param state - what it knows
 * @param issuer - gives its own URL
 * @returns a listener for `node:http`
 */
function createJwtIssuerHandler(state: JwtIssuerState, issuer: () => string): RequestListener {
  return (request, response) => {
    const endpoint = ENDPOINTS[request.url ?? ''];
    if (endpoint === undefined) return sendJson(response, 404, {});
    state.calls[endpoint] += 1;
    const behaviour = state.behaviours.get(endpoint);
    if (behaviour !== undefined) return misbehave(response, behaviour);
    if (endpoint === 'discovery') return sendJson(response, 200, describe(issuer(), state));
    if (endpoint === 'keys') return sendJson(response, 200, { keys: state.published.map((key) => key.publicJwk) });
    introspect(state, request, response).catch(() => response.destroy());
  };
}

type JwtIssuerEndpoint = 'discovery' | 'keys' | 'introspection';

interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Everything that a JWT issuer knows; its HTTP side and its test's side share it. */
interface JwtIssuerState {
  readonly appId: string;
  readonly appSecret: string;
  readonly introspection: boolean;
  current: SigningKey;
  published: readonly SigningKey[];
  /** JWTs, and opaque tokens with what introspection says of them. */
  readonly tokens: Map<string, Readonly<Record<string, unknown>>>;
  readonly revoked: Set<string>;
  readonly calls: Record<JwtIssuerEndpoint, number>;
  readonly behaviours: Map<JwtIssuerEndpoint, Misbehaviour>;
}

/**
 * Makes a key pair.
 *
 * @param options - JWS algorithm; whether the published key leaves out `kid`
 */
async function createSigningKey(options: { readonly alg: string; readonly withoutKid: boolean }): Promise<SigningKey> {
  const { alg, withoutKid } = options;
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  const publicJwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(withoutKid ? {} : { kid }) };
  return { alg, kid, privateKey, publicKey, publicJwk };
}
