import { beforeAll, expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import { claim, createRequest, readRecord, readRequest, updateRequest, writeBody } from '../rig/requests.ts';
import { startOwn, startShared } from '../rig/startOwn.ts';
import { relayerAt, type Target } from '../rig/target.ts';

/** Of two settings that do not meet. */
let bounded: Target;
beforeAll(async () => {
  const env = { MAX_OPEN_CLAIMS: '2', PUBLIC_WAIT_SECONDS: '1' };
  const { target, stop } = await startShared({ env, relayerCount: 2 });
  bounded = target;
  return stop;
});

covers(['claim.most', 'updateRequest.409'], 'a relayer holds no more than MAX_OPEN_CLAIMS', async () => {
  const target = bounded;
  const relayer = relayerAt(target, 0);
  const records = [];
  for (let i = 0; i < 4; i++) records.push(await createRequest(target));
  const [first, second, third, last] = records.map(({ requestId }) => requestId);
  for (const requestId of [first, second]) await claim(target, String(requestId), relayer);
  const refused = await updateRequest(target, { requestId: String(third), json: { status: 'processing' }, relayer });
  expect(refused.status).toBe(409);
  expect(errorOf(refused)).toMatch(/holds 2 requests/);
  const json = { requestIds: [first, third] };
  const batch = await callAsRelayer(target, { method: 'POST', path: '/requests/claims', json, relayer });
  expect(batch.body).toMatchObject({ count: 1, conflicts: [{ requestId: third, status: 'pending' }] });
  await claim(target, String(last), relayerAt(target, 1));
  const released = { method: 'POST', path: `/requests/${first}/release`, relayer };
  expect((await callAsRelayer(target, released)).status).toBe(200);
  await claim(target, String(third), relayer);
});

covers(['wait.most'], 'nobody waits longer than PUBLIC_WAIT_SECONDS', async () => {
  const target = bounded;
  const { requestId } = await createRequest(target);
  const startedAt = performance.now();
  const answer = await callApi(target, { method: 'GET', path: `/requests/${requestId}?status=pending&wait=25` });
  const seconds = (performance.now() - startedAt) / 1000;
  expect(readRecord(answer)).toMatchObject({ requestId, status: 'pending' });
  expect(seconds).toBeGreaterThan(0.9);
  expect(seconds).toBeLessThan(20);
});

covers(
  ['wait.again'],
  'with PUBLIC_WAIT_SECONDS=0 a wait is answered at once, and says when to ask again',
  async () => {
    const { target } = await startOwn({ env: { PUBLIC_WAIT_SECONDS: '0' } });
    const { requestId } = await createRequest(target);
    const ask = (status: string) => callApi(target, { path: `/requests/${requestId}?status=${status}&wait=25` });
    const answer = await ask('pending');
    expect(readRecord(answer)).toMatchObject({ requestId, status: 'pending' });
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await ask('processing')).headers.has('retry-after')).toBe(false);
  },
);

covers(['once.always', 'format.chains', 'createRequest.400'], 'what is taken is bounded by settings', async () => {
  const chains = ['eip155:1', 'eip155:8453'];
  const { target } = await startOwn({ env: { REQUESTS_ONCE: 'always', CHAINS: chains.join(', ') } });
  const post = (json: unknown) => callApi(target, { method: 'POST', path: '/requests', json });
  const body = writeBody(target, { chainName: 'eip155:8453' });
  const record = readRecord(await post(body));
  const again = await post(body);
  expect([again.status, readRecord(again).requestId]).toEqual([200, record.requestId]);
  const other = await post({ ...body, chainName: 'eip155:84532' });
  expect([other.status, faultPaths(other)]).toEqual([400, ['chainName']]);
  expect(other.text).toContain('eip155:1, eip155:8453');
  expect(await readRequest(target, record.requestId)).toEqual(record);
});
