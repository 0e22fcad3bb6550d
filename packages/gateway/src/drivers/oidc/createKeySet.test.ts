import {
  createFakeClock,
  createLogRecorder,
  type FakeClock,
  type JwtIssuer,
  startJwtIssuer,
} from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TokenVerifier } from '../../ports/tokenVerifier.ts';
import { createOidcVerifier } from './createOidcVerifier.ts';

let clock: FakeClock;
let issuer: JwtIssuer;
let verifier: TokenVerifier;

beforeEach(async () => {
  clock = createFakeClock();
  issuer = await startJwtIssuer({ now: clock.now });
  const { now } = clock;
  // Nothing is kept, so that each verification looks for its key.
  const options = { cacheMs: 0, timeoutMs: 30_000, logger: createLogRecorder() };
  verifier = createOidcVerifier({ ...issuer, ...options, allowInsecureHttp: false, fetch, now });
});
afterEach(() => issuer.close());

const outcome = (token: string) =>
  verifier.verify(token).then(
    () => 'accepted',
    (error) => error.code,
  );

test('many tokens cost one look at the keys', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.sign({ jti: crypto.randomUUID() })));
  expect(new Set(await Promise.all(tokens.map(outcome)))).toEqual(new Set(['accepted']));
  expect(issuer.calls).toEqual({ discovery: 1, keys: 1, introspection: 0 });
});

test('a new key is found as soon as a token names it', async () => {
  await verifier.verify(await issuer.sign());
  clock.advance(60_000);
  await issuer.rotateKey();
  expect(await outcome(await issuer.sign())).toBe('accepted');
  expect(issuer.calls.keys).toBe(2);
});

// Shows TOKEN-6.
test('a withdrawn key is forgotten within ten minutes', async () => {
  const old = await issuer.sign();
  expect(await outcome(old)).toBe('accepted');
  await issuer.rotateKey();
  clock.advance(10 * 60_000 - 1);
  expect(await outcome(old)).toBe('accepted');
  clock.advance(1);
  expect(await outcome(old)).toBe('TOKEN_REJECTED');
});

// Shows TOKEN-6.
test('past half of their time keys are loaded anew beside, so that an outage of less than the rest is not felt', async () => {
  const token = await issuer.sign();
  expect(await outcome(token)).toBe('accepted');
  issuer.behave('keys', { status: 503 });
  clock.advance(5 * 60_000);
  expect(await outcome(token)).toBe('accepted');
  await expect.poll(() => issuer.calls.keys).toBe(2);
  issuer.behave('keys', undefined);
  clock.advance(4 * 60_000);
  // The refusal may come only now, and counts for two seconds.
  async function lookAgain(): Promise<number> {
    expect(await outcome(token)).toBe('accepted');
    clock.advance(2000);
    return issuer.calls.keys;
  }
  await expect.poll(lookAgain).toBe(3);
  clock.advance(60_000);
  expect(await outcome(token)).toBe('accepted');
  issuer.behave('keys', { status: 503 });
  clock.advance(8 * 60_000);
  expect(await outcome(token)).toBe('accepted');
});

// Shows TOKEN-6.
test('unknown kids cannot make us hammer the provider', async () => {
  await verifier.verify(await issuer.sign());
  clock.advance(10_000);
  for (let n = 0; n < 50; n += 1) {
    expect(await outcome(await issuer.sign({}, { kid: `invented-${n}` }))).toBe('TOKEN_REJECTED');
  }
  expect(issuer.calls.keys).toBe(2);
  clock.advance(9_999);
  await outcome(await issuer.sign({}, { kid: 'one more' }));
  expect(issuer.calls.keys).toBe(2);
  clock.advance(1);
  await outcome(await issuer.sign({}, { kid: 'yet another' }));
  expect(issuer.calls.keys).toBe(3);
});

test('keys without kid: each of them is tried', async () => {
  await issuer.rotateKey({ withoutKid: true });
  await issuer.rotateKey({ withoutKid: true, keepOld: true });
  expect(await outcome(await issuer.sign({}, { kid: undefined }))).toBe('accepted');
  await using other = await startJwtIssuer({ now: clock.now });
  const forged = await other.sign({ iss: issuer.issuer, aud: issuer.appId }, { kid: undefined });
  expect(await outcome(forged)).toBe('TOKEN_REJECTED');
});

test.each([
  { old: {}, rotation: { withoutKid: true, keepOld: true } },
  { old: { withoutKid: true }, rotation: { withoutKid: true, keepOld: true } },
  { old: { withoutKid: true }, rotation: { withoutKid: true } },
])('a new key without a kid is found although an old one fits: $old, $rotation', async ({ old, rotation }) => {
  await issuer.rotateKey(old);
  const kid = 'withoutKid' in old ? { kid: undefined } : {};
  expect(await outcome(await issuer.sign({}, kid))).toBe('accepted');
  clock.advance(10_000);
  await issuer.rotateKey(rotation);
  expect(await outcome(await issuer.sign({}, { kid: undefined }))).toBe('accepted');
  expect(issuer.calls.keys).toBe(2);
});

test('wrong signatures cannot make us hammer the provider', async () => {
  const good = await issuer.sign();
  expect(await outcome(good)).toBe('accepted');
  await using other = await startJwtIssuer({ now: clock.now });
  const { kid } = await issuer.publicKey();
  const forge = () => other.sign({ iss: issuer.issuer, aud: issuer.appId, jti: crypto.randomUUID() }, { kid });
  for (let n = 0; n < 20; n += 1) expect(await outcome(await forge())).toBe('TOKEN_REJECTED');
  expect(issuer.calls.keys).toBe(1);
  clock.advance(10_000);
  for (let n = 0; n < 20; n += 1) expect(await outcome(await forge())).toBe('TOKEN_REJECTED');
  expect(issuer.calls.keys).toBe(2);
  expect(await outcome(good)).toBe('accepted');
});

test.each([
  'hang-up',
  'garbage',
  'endless',
  { status: 500 },
  { status: 404 },
  { status: 200, body: { keys: 'none' } },
  { status: 302, headers: { location: '/keys' } },
] as const)('keys answered with %j: unavailable, then tried again after the back-off', async (behaviour) => {
  issuer.behave('keys', behaviour);
  const token = await issuer.sign();
  expect(await outcome(token)).toBe('DEPENDENCY_UNAVAILABLE');
  issuer.behave('keys', undefined);
  expect(await outcome(token)).toBe('DEPENDENCY_UNAVAILABLE');
  expect(issuer.calls.keys).toBe(1);
  clock.advance(2_000);
  expect(await outcome(token)).toBe('accepted');
});

test('during an outage known keys hold for their time and unknown ones are nobody’s fault', async () => {
  const known = await issuer.sign();
  await verifier.verify(known);
  issuer.behave('keys', { status: 503 });
  clock.advance(10_000);
  const unknown = await issuer.sign({}, { kid: 'new' });
  expect(await outcome(unknown)).toBe('DEPENDENCY_UNAVAILABLE');
  expect(await outcome(unknown)).toBe('DEPENDENCY_UNAVAILABLE');
  expect(issuer.calls.keys).toBe(2);
  expect(await outcome(known)).toBe('accepted');
  clock.advance(10 * 60_000);
  expect(await outcome(known)).toBe('DEPENDENCY_UNAVAILABLE');
});

test('a key too weak to use is the provider’s fault', async () => {
  const { kid } = await issuer.publicKey();
  const weak = { kty: 'RSA', kid, alg: 'RS256', use: 'sig', n: 'w'.repeat(43), e: 'AQAB' };
  issuer.behave('keys', { status: 200, body: { keys: [weak] } });
  const [, claims, signature] = (await issuer.sign()).split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url');
  expect(await outcome(`${header}.${claims}.${signature}`)).toBe('DEPENDENCY_UNAVAILABLE');
});
