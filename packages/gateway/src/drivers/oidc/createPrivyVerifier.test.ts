import {
  createFakeClock,
  createLogRecorder,
  type FakeClock,
  type JwtIssuer,
  startJwtIssuer,
} from '@prism-gateway/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TokenVerifier } from '../../ports/tokenVerifier.ts';
import { createPrivyVerifier } from './createPrivyVerifier.ts';

let clock: FakeClock;
let issuer: JwtIssuer;
let verifier: TokenVerifier;
const appId = 'clpispdty00ycl80fpueukbhl';
const common = { appId, logger: createLogRecorder(), allowInsecureHttp: false };
beforeAll(async () => {
  issuer = await startJwtIssuer({ now: () => clock.now() });
});
afterAll(() => issuer.close());
beforeEach(() => {
  clock = createFakeClock();
  verifier = createPrivyVerifier({ ...common, jwksUrl: `${issuer.issuer}/keys`, fetch, now: clock.now });
});

/** As Privy signs them: no `typ`, the issuer a bare name, the user a DID. */
const sign = (claims: Readonly<Record<string, unknown>> = {}) =>
  issuer.sign({ iss: 'privy.io', aud: appId, sub: 'did:privy:cl123', sid: 'session-1', ...claims });

test('an access token', async () => {
  const user = { issuer: 'privy.io', userId: 'did:privy:cl123', expiresAtMs: clock.now() + 3_600_000 };
  expect(await verifier.verify(await sign())).toEqual(user);
});

test.each([
  ['an identity token, which has no sid', { sid: undefined, linked_accounts: '[]' }, /"sid"/],
  ['an empty sid', { sid: '' }, /"sid"/],
  ['a sid that is no text', { sid: 1 }, /"sid"/],
  ['another app’s token', { aud: 'another' }, /audience/],
  ['another issuer', { iss: 'https://privy.io' }, /issuer/],
  ['no user', { sub: undefined }, /"sub"/],
  ['expired', { exp: 1_700_000_000 }, /expired/],
])('%s: refused', async (_, claims, message) => {
  const refusal = { code: 'TOKEN_REJECTED', message: expect.stringMatching(message) };
  await expect(verifier.verify(await sign(claims))).rejects.toMatchObject(refusal);
});

// Shows TOKEN-9.
test('a token is refused once it is older than it may be, and nothing is signed beyond that', async () => {
  const maxAgeSeconds = 3600;
  const strict = createPrivyVerifier({
    ...common,
    maxAgeSeconds,
    jwksUrl: `${issuer.issuer}/keys`,
    fetch,
    now: clock.now,
  });
  const iat = clock.now() / 1000;
  const token = await sign({ iat, exp: iat + 86_400 });
  expect(await strict.verify(token)).toMatchObject({ expiresAtMs: clock.now() + 3_600_000 });
  clock.advance(3_600_000 + 6_000);
  expect(await verifier.verify(token)).toMatchObject({ userId: 'did:privy:cl123' });
  await expect(strict.verify(token)).rejects.toMatchObject({ message: 'The access token is too old.' });
  await expect(strict.verify(await sign({ iat: undefined }))).rejects.toMatchObject({
    message: expect.stringMatching(/"iat"/),
  });
});

test('only ES256', async () => {
  await using other = await startJwtIssuer({ now: clock.now });
  await other.rotateKey({ alg: 'RS256' });
  const rsa = createPrivyVerifier({ ...common, jwksUrl: `${other.issuer}/keys`, fetch, now: clock.now });
  const token = await other.sign({ iss: 'privy.io', aud: appId, sid: 's' });
  await expect(rsa.verify(token)).rejects.toMatchObject({
    code: 'TOKEN_REJECTED',
    message: expect.stringMatching(/algorithm/),
  });
});

test('an opaque token is refused, for there is nobody to ask', async () => {
  await expect(verifier.verify('opaque')).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
});

test('Privy down: unavailable', async () => {
  await using down = await startJwtIssuer({ now: clock.now });
  down.behave('keys', { status: 500 });
  const blind = createPrivyVerifier({ ...common, jwksUrl: `${down.issuer}/keys`, fetch, now: clock.now });
  await expect(blind.verify(await sign())).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
});

// Shows TOKEN-9.
test('the keys are at the app’s address on Privy’s host', async () => {
  const asked: string[] = [];
  const spy: typeof fetch = (input) => {
    asked.push(String(input));
    return fetch(`${issuer.issuer}/keys`);
  };
  await createPrivyVerifier({ ...common, fetch: spy, now: clock.now }).verify(await sign());
  expect(asked).toEqual([`https://auth.privy.io/api/v1/apps/${appId}/jwks.json`]);
});

test('keys over plain http are not taken', () => {
  const create = () => createPrivyVerifier({ ...common, jwksUrl: 'http://id.example/k', fetch, now: clock.now });
  expect(create).toThrow(/must be https/);
});

test('in development they are', () => {
  const options = { ...common, allowInsecureHttp: true, jwksUrl: 'http://id.example/k', fetch, now: clock.now };
  expect(() => createPrivyVerifier(options)).not.toThrow();
});
