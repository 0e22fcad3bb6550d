import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, createLogRecorder, type FakeClock } from '@prism-gateway/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDevIssuer } from '../drivers/devIssuer/createDevIssuer.ts';
import { createOidcVerifier } from '../drivers/oidc/createOidcVerifier.ts';

/** The development issuer as the gateway verifies it: through the driver for any provider, without the network. */
const issuer = 'http://127.0.0.1:8787/dev/identity';
const app = { appId: 'dev', appSecret: 'not-a-secret' };
let directory: string;
let clock: FakeClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dev-identity-'));
  clock = createFakeClock();
});
afterEach(() => rm(directory, { recursive: true }));

function startProcess() {
  const { now } = clock;
  const devIssuer = createDevIssuer({ issuer, ...app, directory, now });
  const ownFetch: typeof fetch = (input, init) => devIssuer.fetch(new Request(input, init));
  const logger = createLogRecorder();
  const verifier = createOidcVerifier({ issuer, ...app, allowInsecureHttp: false, fetch: ownFetch, now, logger });
  const post = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
    devIssuer.fetch(new Request(`${issuer}${path}`, { method: 'POST', body, headers }));
  return {
    verify: verifier.verify,
    async issue(order: object): Promise<string> {
      const answer = await post('/token', JSON.stringify(order), { 'content-type': 'application/json' });
      return ((await answer.json()) as { access_token: string }).access_token;
    },
    revoke: (token: string) => post('/revoke', new URLSearchParams({ token })),
  };
}

test('issued, verified, revoked, refused; through a restart and in a second process', async () => {
  const first = startProcess();
  const second = startProcess();
  const token = await first.issue({ sub: 'alice' });
  const user = { issuer, userId: 'alice', expiresAtMs: clock.now() + 3_600_000 };
  expect(await first.verify(token)).toEqual(user);
  expect(await second.verify(token)).toEqual(user);
  expect(await startProcess().verify(token)).toEqual(user);

  await second.revoke(token);
  expect(await first.verify(token)).toEqual(user);
  clock.advance(15_000);
  const refusal = { code: 'TOKEN_REJECTED', message: 'The access token was revoked.' };
  await expect(first.verify(token)).rejects.toMatchObject(refusal);
  await expect(second.verify(token)).rejects.toMatchObject(refusal);
  await expect(startProcess().verify(token)).rejects.toMatchObject(refusal);
});

// Shows TOKEN-1.
test('a token ends 5 s after its exp, kept answer or not', async () => {
  const { issue, verify } = startProcess();
  const token = await issue({ sub: 'alice', expiresIn: 10 });
  await verify(token);
  clock.advance(14_999);
  expect(await verify(token)).toMatchObject({ userId: 'alice' });
  clock.advance(1);
  await expect(verify(token)).rejects.toMatchObject({
    code: 'TOKEN_REJECTED',
    message: 'The access token has expired.',
  });
});

test('another directory is another issuer', async () => {
  const token = await startProcess().issue({ sub: 'alice' });
  const own = directory;
  directory = await mkdtemp(join(tmpdir(), 'dev-identity-'));
  const other = startProcess();
  await other.issue({ sub: 'bob' });
  await expect(other.verify(token)).rejects.toMatchObject({ code: 'TOKEN_REJECTED' });
  await rm(own, { recursive: true });
});
