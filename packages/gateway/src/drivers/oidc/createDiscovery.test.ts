import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createFakeClock,
  createLogRecorder,
  type FakeClock,
  type JwtIssuer,
  startJwtIssuer,
} from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createDiscovery } from './createDiscovery.ts';
import { createOidcVerifier } from './createOidcVerifier.ts';

let clock: FakeClock;
let issuer: JwtIssuer;
beforeEach(async () => {
  clock = createFakeClock();
  issuer = await startJwtIssuer({ now: clock.now, introspection: true });
});
afterEach(() => issuer.close());

const connection = { fetch, timeoutMs: 30_000 };
const discover = (overrides: { issuer?: string; allowInsecureHttp?: boolean } = {}) =>
  createDiscovery({ issuer: issuer.issuer, allowInsecureHttp: false, connection, now: clock.now, ...overrides });
const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error) => `${error.code}: ${error.cause.message}`,
  );

// Shows TOKEN-6.
test('finds the endpoints once in half an hour, and keeps them for an hour', async () => {
  const discovery = discover();
  const expected = { jwksUri: `${issuer.issuer}/keys`, introspectionEndpoint: `${issuer.issuer}/introspection` };
  expect(await Promise.all([discovery.get(), discovery.get()])).toEqual([expected, expected]);
  clock.advance(1_799_999);
  await discovery.get();
  expect(issuer.calls.discovery).toBe(1);
  issuer.behave('discovery', { status: 500 });
  clock.advance(1_800_000);
  expect(await discovery.get()).toEqual(expected);
  await expect.poll(() => issuer.calls.discovery).toBe(2);
  clock.advance(1);
  expect(await faultOf(discovery.get())).toContain('DEPENDENCY_UNAVAILABLE');
  clock.advance(2000);
  issuer.behave('discovery', undefined);
  expect(await discovery.get()).toEqual(expected);
});

// Shows TOKEN-7.
test('a redirect is refused, and nothing follows it', async () => {
  const followed: string[] = [];
  const other = createServer((request, response) => {
    followed.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  // Both listen on ports.
  const { port } = other.address() as AddressInfo;
  const provider = createServer((_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end();
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const issuerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  onTestFinished(() => {
    for (const server of [provider, other]) server.close().closeAllConnections();
  });
  expect(await faultOf(discover({ issuer: issuerUrl }).get())).toContain('DEPENDENCY_UNAVAILABLE');
  expect(followed).toEqual([]);
});

test('is not asked before the first token', async () => {
  createOidcVerifier({ ...issuer, allowInsecureHttp: false, fetch, now: clock.now, logger: createLogRecorder() });
  expect(issuer.calls.discovery).toBe(0);
});

test('an outage costs one attempt in two seconds, however many wait', async () => {
  issuer.behave('discovery', { status: 500 });
  const discovery = discover();
  const answers = await Promise.all(Array.from({ length: 50 }, () => faultOf(discovery.get())));
  expect(new Set(answers)).toEqual(new Set(['DEPENDENCY_UNAVAILABLE: discovery document: answered 500']));
  clock.advance(1_999);
  await faultOf(discovery.get());
  expect(issuer.calls.discovery).toBe(1);
  clock.advance(1);
  issuer.behave('discovery', undefined);
  expect(await discovery.get()).toMatchObject({ jwksUri: `${issuer.issuer}/keys` });
});

test('a clock set back does not prolong the back-off', async () => {
  issuer.behave('discovery', { status: 500 });
  const discovery = discover();
  await faultOf(discovery.get());
  issuer.behave('discovery', undefined);
  clock.advance(-3_600_000);
  expect(await faultOf(discovery.get())).toBe('none');
});

test.each([
  [
    'another issuer',
    () => ({ issuer: 'https://elsewhere.example', jwks_uri: 'https://elsewhere.example/k' }),
    /issuer is "https:\/\/else/,
  ],
  ['a slash more', () => ({ issuer: `${issuer.issuer}/`, jwks_uri: `${issuer.issuer}/keys` }), /issuer is/],
  ['no keys', () => ({ issuer: issuer.issuer }), /not a discovery document/],
  ['a list', () => [], /not a discovery document/],
  ['keys over plain http', () => ({ issuer: issuer.issuer, jwks_uri: 'http://id.example/k' }), /must be https/],
  ['keys in a file', () => ({ issuer: issuer.issuer, jwks_uri: 'file:///etc/passwd' }), /must be https/],
  ['keys nowhere', () => ({ issuer: issuer.issuer, jwks_uri: '/keys' }), /not an absolute URL/],
  [
    'introspection over plain http',
    () => ({ issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys`, introspection_endpoint: 'http://id.example/i' }),
    /must be https/,
  ],
])('a document that names %s is not used', async (_, body, reason) => {
  issuer.behave('discovery', { status: 200, body: body() });
  expect(await faultOf(discover().get())).toMatch(reason);
});

test('plain http to any host is for development', async () => {
  const body = { issuer: issuer.issuer, jwks_uri: 'http://id.example/k' };
  issuer.behave('discovery', { status: 200, body });
  expect(await discover({ allowInsecureHttp: true }).get()).toEqual({ jwksUri: 'http://id.example/k' });
  expect(await faultOf(discover({ issuer: 'http://id.example' }).get())).toMatch(/"http:\/\/id.example" must be https/);
});

test('an issuer that ends in a slash has its document where the standard says', async () => {
  const withSlash = `${issuer.issuer}/`;
  issuer.behave('discovery', { status: 200, body: { issuer: withSlash, jwks_uri: `${withSlash}keys` } });
  expect(await discover({ issuer: withSlash }).get()).toEqual({ jwksUri: `${withSlash}keys` });
});
