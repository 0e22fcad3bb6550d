import { createHash } from 'node:crypto';
import { startGateway } from '@prism-gateway/testing';
import { drawSome } from '@prism-gateway/testing/test-size';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import type { HttpRequest } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { createRequest } from '../rig/requests.ts';
import { startOwn } from '../rig/startOwn.ts';

const provider = { IDENTITY_ISSUER: 'http://127.0.0.1:9', IDENTITY_APP_ID: 'app' };

/** The output of a gateway that does not start. */
async function refusalOf(env: Record<string, string>): Promise<string> {
  const started = startGateway({ env });
  return await started.then(
    async (gateway) => {
      await gateway.stop();
      throw new Error('It has started.');
    },
    (error: Error) => error.message,
  );
}

covers(['admin.prod'], 'prod does not start with the default key, a short one, or none', async () => {
  const keys = ['change-me-admin-key', 'x'.repeat(31), '', `${'y'.repeat(40)},${'x'.repeat(31)}`];
  for (const ADMIN_API_KEY of drawSome(keys, { of: 'keys that prod refuses', small: 2 })) {
    const printed = await refusalOf({ STAGE: 'prod', ADMIN_API_KEY, ...provider });
    expect([ADMIN_API_KEY, printed]).toEqual([
      ADMIN_API_KEY,
      expect.stringMatching(/ended with 1:[\s\S]*ADMIN_API_KEY/),
    ]);
    expect(printed).not.toContain('xxxxx');
  }
});

covers(['settings.faults'], 'every fault of the settings is named at once, and no value repeated', async () => {
  const secret = 'my-own-little-secret';
  const bad = {
    STAGE: 'prod',
    ADMIN_API_KEY: secret,
    PORT: 'http-port-secret',
    STORAGE_SIGNED_URL_TTL_SECONDS: '29',
    CLAIM_LEASE_SECONDS: '-1',
    RATE_LIMIT_READS: 'many-secret',
    STORE: 'paper-secret',
    LOG_LEVEL: 'loud-secret',
    IDENTITY_PROVIDER: 'nobody-secret',
    PUBLIC_URL: 'ftp://public-secret',
  };
  const printed = await refusalOf(bad);
  for (const name of Object.keys(bad).filter((name) => name !== 'STAGE')) expect(printed).toContain(name);
  expect(printed).not.toContain('secret');
  expect(printed).not.toMatch(/\n\s+at /);
});

covers(['admin.readKeys'], 'a key for reading reads and does nothing', async () => {
  const [key, reader] = [randomHex(16), randomHex(16)];
  const { target, gateway } = await startOwn({ env: { ADMIN_API_KEY: key, ADMIN_READ_KEYS: reader }, adminKey: key });
  const call = (one: HttpRequest) => callApi(target, { ...one, headers: { 'x-admin-key': reader } });
  const { requestId } = await createRequest(target);
  for (const path of ['requests', 'stats', 'audit', 'service', 'relayers', 'webhooks'])
    expect([path, (await call({ path: `/admin/${path}` })).status]).toEqual([path, 200]);
  expect((await call({ path: '/admin/service' })).body).toMatchObject({ key: { mayAct: false } });
  const acts: HttpRequest[] = [
    { method: 'DELETE', path: `/admin/requests/${requestId}` },
    { method: 'POST', path: '/admin/relayers', json: { address: randomHex(20) } },
    { method: 'POST', path: '/admin/webhooks', json: { url: 'https://example.org', events: ['request.created'] } },
  ];
  for (const act of acts) {
    const { status, body } = await call(act);
    expect([act.path, status, body]).toEqual([
      act.path,
      403,
      expect.objectContaining({ code: 'ADMIN_KEY_READS_ONLY' }),
    ]);
  }
  expect((await call({ path: `/requests/${requestId}` })).body).toMatchObject({ status: 'pending' });
  await gateway.stop();
  const keyId = createHash('sha256').update(reader).digest('hex').slice(0, 12);
  const refused = gateway.output.filter((line) => line.includes('"refused"')).map((line) => JSON.parse(line));
  expect(refused).toMatchObject(acts.map(({ path }) => ({ audit: 'refused', keyId, target: path })));
  expect(gateway.output.join('\n')).not.toContain(reader);
});

const KEYS =
  'two keys are valid at once, and no part or join of them; each act is one line of the log, with the id of its key and never the key';
covers(['admin.rotation', 'admin.audit'], KEYS, async () => {
  const [key, last] = [randomHex(16), randomHex(16)];
  const { target, gateway } = await startOwn({ env: { ADMIN_API_KEY: `${key},${last}` }, adminKey: key });
  const statusOf = async (given: string) =>
    (await callApi(target, { path: '/admin/relayers', headers: { 'x-admin-key': given } })).status;
  expect([await statusOf(key), await statusOf(last)]).toEqual([200, 200]);
  for (const part of [`${key},${last}`, `${key}${last}`, key.slice(1), 'change-me-admin-key'])
    expect(await statusOf(part)).toBe(401);
  const admin = (call: HttpRequest) => callApi(target, { ...call, headers: { 'x-admin-key': key } });
  const { requestId } = await createRequest(target);
  const address = randomHex(20);
  await admin({ method: 'POST', path: '/admin/relayers', json: { address } });
  await admin({ method: 'DELETE', path: `/admin/relayers/${address}` });
  await admin({ method: 'DELETE', path: `/admin/requests/${requestId}` });
  // What changes nothing is no act.
  await admin({ method: 'DELETE', path: `/admin/requests/${requestId}` });
  await admin({ path: '/admin/requests' });
  await gateway.stop();
  const keyId = createHash('sha256').update(key).digest('hex').slice(0, 12);
  const acts = gateway.output.filter((line) => line.includes('"audit"')).map((line) => JSON.parse(line));
  expect(acts.map(({ audit }) => audit)).toEqual(
    expect.arrayContaining(['relayers.add', 'relayers.remove', 'requests.purge']),
  );
  expect(acts.filter(({ audit }) => audit === 'requests.purge')).toMatchObject([{ keyId, target: requestId }]);
  for (const secret of [key, last]) expect(gateway.output.join('\n')).not.toContain(secret);
});
