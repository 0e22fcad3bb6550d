import {
  createFakeClock,
  createLogRecorder,
  type FakeClock,
  type JwtIssuer,
  type LogRecorder,
  startJwtIssuer,
} from '@prism-gateway/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOidcVerifier, type OidcVerifierOptions } from './createOidcVerifier.ts';

let clock: FakeClock;
let issuer: JwtIssuer;
let logger: LogRecorder;
beforeEach(async () => {
  clock = createFakeClock();
  logger = createLogRecorder();
  issuer = await startJwtIssuer({ now: clock.now, introspection: true });
});
afterEach(() => issuer.close());

const verify = (token: string, overrides: Partial<OidcVerifierOptions> = {}) =>
  createOidcVerifier({ ...issuer, allowInsecureHttp: false, fetch, now: clock.now, logger, ...overrides }).verify(
    token,
  );
const rejected = (message: RegExp) => ({ code: 'TOKEN_REJECTED', message: expect.stringMatching(message) });
const unavailable = { code: 'DEPENDENCY_UNAVAILABLE', dependency: 'identity provider' };
const inSeconds = (seconds: number) => clock.now() / 1000 + seconds;

describe('JWT', () => {
  test('good while active, refused once revoked', async () => {
    const token = await issuer.sign();
    expect(await verify(token)).toMatchObject({ userId: 'alice' });
    issuer.revoke(token);
    await expect(verify(token)).rejects.toMatchObject(rejected(/revoked/));
  });

  test('a bad one is refused before the provider is asked about it', async () => {
    await expect(verify(await issuer.sign({ aud: 'another' }))).rejects.toMatchObject(rejected(/audience/));
    expect(issuer.calls.introspection).toBe(0);
  });

  test('introspection may end it earlier, not later', async () => {
    const token = await issuer.sign({ exp: inSeconds(100) });
    issuer.behave('introspection', { status: 200, body: { active: true, exp: inSeconds(50) } });
    expect(await verify(token)).toMatchObject({ expiresAtMs: clock.now() + 50_000 });
    issuer.behave('introspection', { status: 200, body: { active: true, exp: inSeconds(500) } });
    expect(await verify(token)).toMatchObject({ expiresAtMs: clock.now() + 100_000 });
  });

  // Shows TOKEN-4.
  test('a provider that cannot introspect JWTs leaves it to the signature', async () => {
    issuer.behave('introspection', { status: 400, body: { error: 'unsupported_token_type' } });
    expect(await verify(await issuer.sign())).toMatchObject({ userId: 'alice' });
  });

  // Shows TOKEN-2.
  test('a provider whose introspection needs a secret that is not set is not passed by', async () => {
    await expect(verify(await issuer.sign(), { appSecret: undefined })).rejects.toMatchObject(unavailable);
    expect(logger.lines[0]?.fields).toEqual({ reason: 'introspection: IDENTITY_APP_SECRET is not set' });
  });
});

describe('opaque token', () => {
  test('good while active, refused once revoked, and when unknown', async () => {
    const token = issuer.issueOpaque({ exp: inSeconds(60) });
    const expected = { issuer: issuer.issuer, userId: 'alice', expiresAtMs: clock.now() + 60_000 };
    expect(await verify(token)).toEqual(expected);
    issuer.revoke(token);
    await expect(verify(token)).rejects.toMatchObject(rejected(/revoked/));
    await expect(verify('never-issued')).rejects.toMatchObject(rejected(/unknown/));
  });

  test.each([
    ['iss of another', { iss: 'https://elsewhere.example' }, /another issuer/],
    ['aud of another', { aud: 'another' }, /another audience/],
    ['aud list without us', { aud: ['another'] }, /another audience/],
    ['issued to another client', { client_id: 'another' }, /another audience/],
    ['neither aud nor client_id', { client_id: undefined }, /another audience/],
    ['no sub', { sub: undefined }, /"sub"/],
    ['empty sub', { sub: '' }, /"sub"/],
    ['bound to a key', { cnf: { jkt: 'x' } }, /bound to a key/],
    ['token_use refresh_token', { token_use: 'refresh_token' }, /not an access token/],
    ['token_type DPoP', { token_type: 'DPoP' }, /not a bearer/],
    ['exp long past', () => ({ exp: inSeconds(-5) }), /expired/],
  ])('%s: refused', async (_, claims, message) => {
    const token = issuer.issueOpaque(typeof claims === 'function' ? claims() : claims);
    await expect(verify(token)).rejects.toMatchObject(rejected(message));
  });

  test.each([
    ['no iss', () => ({ iss: undefined })],
    ['aud is ours, client another', () => ({ aud: ['x', issuer.appId], client_id: 'another' })],
    ['token_use access_token', () => ({ token_use: 'access_token' })],
    ['token_type bearer', () => ({ token_type: 'bearer' })],
    ['exp just past', () => ({ exp: inSeconds(-4) })],
  ])('%s: accepted', async (_, claims) => {
    expect(await verify(issuer.issueOpaque(claims()))).toMatchObject({ userId: 'alice' });
  });

  // Shows TOKEN-3.
  test('without exp it is vouched for 75 s', async () => {
    const user = await verify(issuer.issueOpaque({ exp: undefined }));
    expect(user.expiresAtMs).toBe(clock.now() + 75_000);
  });

  test('refused where the provider has no introspection or will not introspect it', async () => {
    issuer.behave('introspection', { status: 400, body: { error: 'invalid_request' } });
    await expect(verify(issuer.issueOpaque())).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
    await using bare = await startJwtIssuer({ now: clock.now });
    await expect(verify(bare.issueOpaque(), bare)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
  });
});

describe('never open', () => {
  test.each([
    'hang-up',
    'garbage',
    'endless',
    { status: 401, body: { error: 'invalid_client' } },
    { status: 403 },
    { status: 404 },
    { status: 429 },
    { status: 500 },
    { status: 503 },
    { status: 201, body: { active: true } },
    { status: 204 },
    { status: 302, headers: { location: '/introspection' } },
    { status: 400, body: 'bad' },
    { status: 400, body: { error: 'invalid_client' } },
    { status: 400, body: { error: 'unauthorized_client' } },
    { status: 200, body: {} },
    { status: 200, body: null },
    { status: 200, body: [true] },
    { status: 200, body: { active: 'true' } },
    { status: 200, body: { active: 1 } },
    { status: 200, body: { active: true, exp: 'tomorrow' } },
  ] as const)('introspection answered with %j', async (behaviour) => {
    issuer.behave('introspection', behaviour);
    await expect(verify(await issuer.sign())).rejects.toMatchObject(unavailable);
    await expect(verify(issuer.issueOpaque())).rejects.toMatchObject(unavailable);
  });

  test('a silent provider is given up after the time limit', async () => {
    issuer.behave('introspection', 'silent');
    await expect(verify(await issuer.sign(), { timeoutMs: 100 })).rejects.toMatchObject(unavailable);
    expect(logger.lines[0]?.fields.reason).toMatch(/^introspection: .*timeout/);
  });

  test('the time limit is 2.5 s unless said otherwise', async () => {
    issuer.behave('discovery', 'silent');
    const start = performance.now();
    await expect(verify('opaque')).rejects.toMatchObject(unavailable);
    // The provider never answers: only the limit ends the wait.
    expect(performance.now() - start).toBeGreaterThan(2_400);
  });

  test('nobody listens', async () => {
    const token = await issuer.sign();
    await issuer.close();
    await expect(verify(token)).rejects.toMatchObject(unavailable);
    expect(logger.lines[0]?.fields.reason).toMatch(/ECONNREFUSED/);
    issuer = await startJwtIssuer();
  });

  test('neither the token nor the secret is in the error or the log', async () => {
    issuer.behave('introspection', 'hang-up');
    const token = issuer.issueOpaque();
    const error = await verify(token).catch((caught: Error) => caught);
    const reported = JSON.stringify([logger.lines, String(error), String((error as Error).cause)]);
    expect(reported).toContain('introspection');
    expect(reported).not.toContain(token);
    expect(reported).not.toContain('not-a-secret');
  });
});
