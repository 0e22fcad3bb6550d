import { createLogRecorder, type OidcProvider, startOidcProvider } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOidcVerifier, type OidcVerifierOptions } from './createOidcVerifier.ts';

describe('with a real provider (oidc-provider)', () => {
  let provider: OidcProvider;
  beforeAll(async () => {
    provider = await startOidcProvider();
  });
  afterAll(() => provider.close());

  const verifierWith = (overrides: Partial<OidcVerifierOptions> = {}) =>
    createOidcVerifier({
      ...{ ...provider, allowInsecureHttp: false, fetch, now: Date.now, logger: createLogRecorder() },
      ...overrides,
    });

  test('an opaque access token', async () => {
    const verifier = verifierWith();
    const token = await provider.issueOpaque('alice', { lifetimeSeconds: 600 });
    const user = await verifier.verify(token);
    expect(user).toMatchObject({ issuer: provider.issuer, userId: 'alice' });
    expect(user.expiresAtMs - Date.now()).toBeGreaterThan(590_000);
    expect(user.expiresAtMs - Date.now()).toBeLessThanOrEqual(600_000);
  });

  test('a revoked opaque access token', async () => {
    const token = await provider.issueOpaque('alice');
    const kept = verifierWith();
    await kept.verify(token);
    await provider.revoke(token);
    await expect(verifierWith().verify(token)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
    expect(await kept.verify(token)).toMatchObject({ userId: 'alice' });
    const later = verifierWith({ cacheMs: 0 });
    await expect(later.verify(token)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
  });

  test('a JWT access token, which this provider cannot introspect', async () => {
    const user = await verifierWith().verify(await provider.issueJwt('bob'));
    expect(user).toMatchObject({ issuer: provider.issuer, userId: 'bob' });
  });

  // Shows TOKEN-5.
  test('an ID token is not an access token', async () => {
    const refusal = { code: 'TOKEN_REJECTED', message: 'The token is not an access token.' };
    await expect(verifierWith().verify(await provider.issueIdToken('carol'))).rejects.toMatchObject(refusal);
  });

  test('another app’s verifier refuses the tokens, and a wrong secret opens nothing', async () => {
    const opaque = await provider.issueOpaque('alice');
    const jwt = await provider.issueJwt('alice');
    await expect(verifierWith({ appId: 'another' }).verify(jwt)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
    const wrong = verifierWith({ appSecret: 'wrong' });
    await expect(wrong.verify(opaque)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await expect(wrong.verify(jwt)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  });
});

test('an outage is logged once in ten seconds, not once a token', async () => {
  let nowMs = 1_800_000_000_000;
  const logger = createLogRecorder();
  const options = { issuer: 'https://id.example', appId: 'a', allowInsecureHttp: false, now: () => nowMs, logger };
  const down = () => Promise.reject(new TypeError('fetch failed'));
  const verifier = createOidcVerifier({ ...options, fetch: down });
  for (let n = 0; n < 20; n += 1) {
    await expect(verifier.verify(`t${n}`)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  }
  const line = { fields: { reason: 'discovery document: fetch failed' }, message: 'identity provider unavailable' };
  expect(logger.lines).toEqual([{ level: 'warn', ...line }]);
  nowMs += 10_000;
  await expect(verifier.verify('t')).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  expect(logger.lines).toHaveLength(2);
});
