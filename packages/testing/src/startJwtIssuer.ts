import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { exportSPKI, SignJWT } from 'jose';
import { createJwtIssuerHandler } from './createJwtIssuerHandler.ts';
import { createSigningKey, type JwtIssuerEndpoint, type JwtIssuerState } from './jwtIssuerState.ts';
import { listenOnLoopback } from './listenOnLoopback.ts';
import type { Misbehaviour } from './misbehave.ts';

type Claims = Readonly<Record<string, unknown>>;

/** An OpenID provider of its own make, that can be told to fail. */
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
  /** What anybody can know of the current key. */
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
