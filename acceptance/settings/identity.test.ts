import { beforeAll, expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { findClosedPort } from '../rig/findClosedPort.ts';
import { sign } from '../rig/objects.ts';
import { randomHex } from '../rig/randomHex.ts';
import { startOwn, startShared } from '../rig/startOwn.ts';
import type { Target } from '../rig/target.ts';
import { issueToken } from '../rig/tokens.ts';

const json = () => ({ projectId: randomHex(16), key: randomHex(32), operation: 'get' });
const ask = (target: Target, token: string) => sign(target, { token, json: json() });

/** How long a positive answer may be kept, and a little for the calls themselves. */
const REVOKED_WITHIN_MS = 16_500;

/** With the development issuer: each test has tokens of its own. */
let target: Target;
beforeAll(async () => {
  const shared = await startShared({});
  target = shared.target;
  return shared.stop;
});

async function revoke(token: string): Promise<void> {
  const contentType = 'application/x-www-form-urlencoded';
  const body = new URLSearchParams({ token }).toString();
  const answer = await callApi(target, { method: 'POST', path: '/dev/identity/revoke', body, contentType });
  expect(answer.status, answer.text).toBe(200);
}

covers(['sign.revoked', 'signStorage.401'], 'a revoked token is 401, and others of the same user are not', async () => {
  const [revoked, other] = [await issueToken(target, 'alice'), await issueToken(target, 'alice')];
  await revoke(revoked);
  expect((await ask(target, revoked)).status).toBe(401);
  expect((await ask(target, other)).status).toBe(200);
});

covers(['sign.revoked'], 'a revoked token that has just been let in is 401 at most 15 s later', async (context) => {
  // The time is real: nothing of the gateway is at hand here whose clock could be set.
  if (!process.env.TEST_LONG) return context.skip('takes 15 s: set TEST_LONG');
  const token = await issueToken(target, 'alice');
  expect((await ask(target, token)).status).toBe(200);
  await revoke(token);
  await eventually(async () => expect((await ask(target, token)).status).toBe(401), REVOKED_WITHIN_MS);
});

covers(['sign.token', 'signStorage.401'], 'a token that has ended is 401', async () => {
  const token = await issueToken(target, 'alice', 1);
  const answer = await eventually(async () => {
    const late = await ask(target, token);
    expect(late.status).toBe(401);
    return late;
  });
  expect(answer.text).toMatch(/expired/i);
});

covers(['sign.token'], "a token of another gateway's issuer is 401", async () => {
  const other = await startOwn({});
  expect((await ask(target, await issueToken(other.target, 'alice'))).status).toBe(401);
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

covers(
  ['signStorage.503', 'sign.providerDown', 'settings.prodIssuer'],
  'in prod nobody gets a token for the asking; an identity provider that does not answer: 503, never open',
  async () => {
    const issuer = `http://127.0.0.1:${await findClosedPort()}`;
    const adminKey = randomHex(32);
    const env = { STAGE: 'prod', ADMIN_API_KEY: adminKey, IDENTITY_ISSUER: issuer, IDENTITY_APP_ID: 'app' };
    const prod = (await startOwn({ env, adminKey })).target;
    expect(prod.hasDevIssuer).toBe(false);
    for (const path of ['/dev/identity/token', '/dev/identity/jwks', '/dev/identity']) {
      expect((await callApi(prod, { method: 'POST', path, json: { sub: 'alice' } })).status).toBe(404);
    }
    const claims = { iss: issuer, aud: 'app', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 600 };
    const token = `${part({ alg: 'ES256', kid: 'a', typ: 'JWT' })}.${part(claims)}.${'A'.repeat(86)}`;
    for (const each of [token, 'an-opaque-token']) {
      const answer = await ask(prod, each);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    }
    expect((await sign(prod, { token: undefined, json: json() })).status).toBe(401);
  },
);
