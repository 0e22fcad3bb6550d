import { relayerRecordSchema, relayerReleasedSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { addRelayer } from '../rig/addRelayer.ts';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import type { HttpRequest } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readRequest, updateRequest } from '../rig/requests.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const admin = (call: HttpRequest) => callApi(target, { ...call, headers: { 'x-admin-key': target.adminKey } });
const act = (address: string, name: string, json?: unknown) =>
  admin({ method: 'POST', path: `/admin/relayers/${address}/${name}`, ...(json !== undefined && { json }) });

covers(
  ['suspendRelayer.200', 'resumeRelayer.200', 'relayerAuth.suspended', 'whitelist.suspend'],
  'a suspended relayer is refused with the reason until it is resumed',
  async () => {
    const relayer = await addRelayer(target);
    const { requestId } = await createRequest(target);
    const reason = 'its key was seen in a log';
    const suspended = await act(relayer.address.toLowerCase(), 'suspend', { reason });
    expect(suspended.status, suspended.text).toBe(200);
    const record = relayerRecordSchema.parse(suspended.body);
    expect(record).toMatchObject({ address: relayer.address, suspendReason: reason, suspendedAt: record.updatedAt });
    const refused = await updateRequest(target, { requestId, json: { status: 'processing' }, relayer });
    expect(refused.status).toBe(401);
    expect(errorOf(refused)).toContain(reason);
    const resumed = relayerRecordSchema.parse((await act(relayer.address, 'resume')).body);
    expect(resumed).not.toHaveProperty('suspendedAt');
    await claim(target, requestId, relayer);
  },
);

covers(['releaseRelayer.200', 'whitelist.release'], 'what a relayer holds is given back for it', async () => {
  const relayer = await addRelayer(target);
  const [held, done] = [await createRequest(target), await createRequest(target)];
  for (const { requestId } of [held, done]) await claim(target, requestId, relayer);
  const json = { status: 'success', txHash: randomHex(32) };
  expect((await updateRequest(target, { requestId: done.requestId, json, relayer })).status).toBe(200);
  await act(relayer.address, 'suspend', { reason: 'stopped' });
  const answer = await act(relayer.address, 'release');
  expect(answer.status, answer.text).toBe(200);
  expect(relayerReleasedSchema.parse(answer.body)).toEqual({ address: relayer.address, released: 1, complete: true });
  const released = await readRequest(target, held.requestId);
  expect({ ...released, updatedAt: held.updatedAt }).toEqual(held);
  expect((await readRequest(target, done.requestId)).status).toBe('success');
});

covers(
  [
    'suspendRelayer.400',
    'suspendRelayer.401',
    'suspendRelayer.404',
    'resumeRelayer.400',
    'resumeRelayer.401',
    'resumeRelayer.404',
    'releaseRelayer.400',
    'releaseRelayer.401',
  ],
  'nothing of it is done for a wrong key, another path or an unknown relayer',
  async () => {
    const address = randomHex(20);
    const reason = { reason: 'why' };
    for (const [name, json, faults] of [
      ['suspend', reason, ['address']],
      ['suspend', {}, ['address', 'reason']],
      ['resume', undefined, ['address']],
      ['release', undefined, ['address']],
    ] as const) {
      const answer = await act('0x12', name, json);
      expect([answer.status, faultPaths(answer)]).toEqual([400, faults]);
      const path = `/admin/relayers/${address}/${name}`;
      expect((await callApi(target, { method: 'POST', path, ...(json && { json }) })).status).toBe(401);
    }
    expect((await act(address, 'suspend', reason)).status).toBe(404);
    expect((await act(address, 'resume')).status).toBe(404);
  },
);
