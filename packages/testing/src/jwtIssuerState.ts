import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Misbehaviour } from './misbehave.ts';

export type JwtIssuerEndpoint = 'discovery' | 'keys' | 'introspection';

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Everything that a JWT issuer knows; its HTTP side and its test's side share it. */
export interface JwtIssuerState {
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
export async function createSigningKey(options: {
  readonly alg: string;
  readonly withoutKid: boolean;
}): Promise<SigningKey> {
  const { alg, withoutKid } = options;
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  const publicJwk = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(withoutKid ? {} : { kid }) };
  return { alg, kid, privateKey, publicKey, publicJwk };
}
