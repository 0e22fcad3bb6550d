import {
  createFakeClock,
  createLogRecorder,
  type FakeClock,
  type JwtIssuer,
  startJwtIssuer,
} from '@prism-gateway/testing';
import fc from 'fast-check';
import { exportJWK, importSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TokenVerifier } from '../../ports/tokenVerifier.ts';
import { createOidcVerifier } from './createOidcVerifier.ts';

let clock: FakeClock;
let issuer: JwtIssuer;
let verifier: TokenVerifier;

beforeAll(async () => {
  clock = createFakeClock();
  issuer = await startJwtIssuer({ now: () => clock.now() });
});
afterAll(() => issuer.close());
beforeEach(() => {
  clock = createFakeClock();
  const { now } = clock;
  verifier = createOidcVerifier({ ...issuer, allowInsecureHttp: false, fetch, now, logger: createLogRecorder() });
});

const inSeconds = (seconds: number) => clock.now() / 1000 + seconds;
const rejected = (message: RegExp) => ({ code: 'TOKEN_REJECTED', message: expect.stringMatching(message) });

test('a good token says whom it speaks for and until when', async () => {
  const user = await verifier.verify(await issuer.sign({ sub: 'did:example:alice', exp: inSeconds(60) }));
  expect(user).toEqual({ issuer: issuer.issuer, userId: 'did:example:alice', expiresAtMs: clock.now() + 60_000 });
});

test.each(['RS256', 'PS256', 'ES384', 'EdDSA'])('%s is accepted', async (alg) => {
  await using other = await startJwtIssuer({ now: clock.now });
  await other.rotateKey({ alg });
  const logger = createLogRecorder();
  const verify = createOidcVerifier({ ...other, allowInsecureHttp: false, fetch, now: clock.now, logger });
  expect(await verify.verify(await other.sign())).toMatchObject({ userId: 'alice' });
});

describe('token claims', () => {
  test.each([
    ['iss of another', { iss: 'https://elsewhere.example' }, /another issuer/],
    ['iss with one slash more', () => ({ iss: `${issuer.issuer}/` }), /another issuer/],
    ['no iss', { iss: undefined }, /"iss"/],
    ['aud of another', { aud: 'another-app' }, /another audience/],
    ['aud that only begins like ours', () => ({ aud: `${issuer.appId}-2` }), /another audience/],
    ['aud list without us', { aud: ['a', 'b'] }, /another audience/],
    ['no aud', { aud: undefined }, /"aud"/],
    ['no exp', { exp: undefined }, /"exp"/],
    ['exp that is text', { exp: '1900000000' }, /"exp"/],
    ['nbf that is text', { nbf: 'now' }, /"nbf"/],
    ['no sub', { sub: undefined }, /"sub"/],
    ['empty sub', { sub: '' }, /"sub"/],
    ['numeric sub', { sub: 7 }, /"sub"/],
    ['sub with half a character', { sub: 'a\ud800' }, /"sub"/],
    ['token_use of an ID token', { token_use: 'id' }, /not an access token/],
    ['cnf of a DPoP key', { cnf: { jkt: 'x' } }, /bound to a key/],
    ['at_hash of an ID token', { at_hash: 'x' }, /not an access token/],
    ['c_hash of an ID token', { c_hash: 'x' }, /not an access token/],
    ['nonce of an ID token', { nonce: 'x' }, /not an access token/],
    ['events of a logout token', { events: {} }, /not an access token/],
  ])('%s: refused', async (_, claims, message) => {
    const token = await issuer.sign(typeof claims === 'function' ? claims() : claims);
    await expect(verifier.verify(token)).rejects.toMatchObject(rejected(message));
  });

  test.each([
    ['aud list with us', () => ({ aud: ['other', issuer.appId] }), {}],
    ['nonce beside a scope', () => ({ nonce: 'x', scope: 'openid' }), {}],
    ['typ JWT', () => ({}), { typ: 'JWT' }],
    ['typ at+jwt', () => ({}), { typ: 'at+jwt' }],
    ['typ application/at+jwt', () => ({}), { typ: 'application/AT+JWT' }],
  ])('%s: accepted', async (_, claims, header) => {
    expect(await verifier.verify(await issuer.sign(claims(), header))).toMatchObject({ userId: 'alice' });
  });

  test.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', 7])('typ %s: refused', async (typ) => {
    const token = await issuer.sign({}, { typ });
    await expect(verifier.verify(token)).rejects.toMatchObject(rejected(/not an access token|malformed/));
  });
});

describe('times', () => {
  test.each([
    [0, true],
    [-4, true],
    [-5, false],
    [-3600, false],
  ])('exp %i s away: accepted is %s', async (seconds, accepted) => {
    const answer = verifier.verify(await issuer.sign({ exp: inSeconds(seconds) }));
    if (accepted) expect(await answer).toMatchObject({ expiresAtMs: clock.now() + seconds * 1000 });
    else await expect(answer).rejects.toMatchObject(rejected(/expired/));
  });

  test.each([
    [0, true],
    [5, true],
    [6, false],
  ])('nbf %i s away: accepted is %s', async (seconds, accepted) => {
    const answer = verifier.verify(await issuer.sign({ nbf: inSeconds(seconds) }));
    if (accepted) expect(await answer).toMatchObject({ userId: 'alice' });
    else await expect(answer).rejects.toMatchObject(rejected(/not valid yet/));
  });

  test('an exp beyond all dates stays within what a Date can hold', async () => {
    const { expiresAtMs } = await verifier.verify(await issuer.sign({ exp: 1e300 }));
    expect(new Date(expiresAtMs).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
  });
});

/** Of base64url. */
const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];

describe('forgeries', () => {
  const goodClaims = () => ({ iss: issuer.issuer, aud: issuer.appId, sub: 'mallory', exp: inSeconds(60) });

  test('HS256 keyed with the published key', async () => {
    const { kid, pem } = await issuer.publicKey();
    const secret = new TextEncoder().encode(pem);
    const token = await new SignJWT(goodClaims()).setProtectedHeader({ alg: 'HS256', kid }).sign(secret);
    await expect(verifier.verify(token)).rejects.toMatchObject(rejected(/algorithm/));
  });

  test.each(['', 'eA'])('alg none with the signature "%s"', async (signature) => {
    const token = `${new UnsecuredJWT(goodClaims()).encode()}${signature}`;
    await expect(verifier.verify(token)).rejects.toMatchObject(rejected(/algorithm|malformed/));
  });

  test('a key that the token brings along', async () => {
    await using attacker = await startJwtIssuer({ now: clock.now });
    const { pem } = await attacker.publicKey();
    const jwk = await exportJWK(await importSPKI(pem, 'ES256', { extractable: true }));
    const header = { jwk, jku: `${attacker.issuer}/keys` };
    const token = await attacker.sign(goodClaims(), header);
    await expect(verifier.verify(token)).rejects.toMatchObject(rejected(/does not publish/));
    const disguised = await attacker.sign(goodClaims(), { ...header, kid: (await issuer.publicKey()).kid });
    await expect(verifier.verify(disguised)).rejects.toMatchObject(rejected(/wrong signature/));
  });

  test('another spelling of the same signature', async () => {
    const token = await issuer.sign();
    const signature = token.slice(token.lastIndexOf('.') + 1);
    const bytes = Buffer.from(signature, 'base64url');
    const spellings = ALPHABET.map((last) => signature.slice(0, -1) + last);
    const twins = spellings.filter((twin) => twin !== signature && Buffer.from(twin, 'base64url').equals(bytes));
    expect(twins.length).toBeGreaterThan(0);
    for (const twin of twins) {
      const changed = token.slice(0, -signature.length) + twin;
      await expect(verifier.verify(changed)).rejects.toMatchObject(rejected(/malformed/));
    }
  });

  test('a token changed anywhere is refused, and never blamed on the provider', async () => {
    const token = await issuer.sign();
    await verifier.verify(token);
    const edit = fc.tuple(
      fc.nat(token.length - 1),
      fc.nat(3),
      fc.array(fc.constantFrom(...ALPHABET, '.', '~', '+', '/', '='), { maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(edit, async ([at, removed, inserted]) => {
        const changed = token.slice(0, at) + inserted.join('') + token.slice(at + removed);
        fc.pre(changed !== token);
        await expect(verifier.verify(changed)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['nothing', ''],
    ['a blank', 'a b'],
    ['a line break', 'a\r\nb'],
    ['beyond ASCII', 'naïve'],
    ['too much', 'a'.repeat(16 * 1024 + 1)],
  ])('%s is no token, and the provider is not asked', async (_, token) => {
    const asked = { ...issuer.calls };
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
    expect(issuer.calls).toEqual(asked);
  });
});
