import { requestBatchSchema } from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import type { HttpResponse } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { chainOf, claim, createRequest, readRecord, readRequest, writeBody } from '../rig/requests.ts';
import { type Relayer, readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const [owner, rival] = [relayerAt(target, 7), relayerAt(target, 8)];
const UNKNOWN = '0197c2a4-5b1e-7c3d-8f60-0242ac12ffff';

const post = (path: string, json: unknown, relayer: Relayer = owner) =>
  callAsRelayer(target, { method: 'POST', path, ...(json !== undefined && { json }), relayer });
const claims = (json: unknown, relayer?: Relayer) => post('/requests/claims', json, relayer);
const reports = (json: unknown, relayer?: Relayer) => post('/requests/reports', json, relayer);
const release = (requestId: string, relayer?: Relayer, json?: unknown) =>
  post(`/requests/${requestId}/release`, json, relayer);

function readBatch(answer: HttpResponse) {
  expect(answer.status, answer.text).toBe(200);
  const batch = requestBatchSchema.parse(answer.body);
  expect(batch.count).toBe(batch.items.length);
  return batch;
}

const createMany = (count: number, chainName = chainOf(target)) =>
  Promise.all(Array.from({ length: count }, () => createRequest(target, writeBody(target, { chainName }))));

covers(
  ['claimRequests.200', 'batch.claims', 'batch.conflicts', 'batch.renew'],
  'a batch claims what is pending, renews what the relayer holds, and names the rest with its status',
  async () => {
    const [free, own, others] = await createMany(3);
    await claim(target, own!.requestId, owner);
    await claim(target, others!.requestId, rival);
    const requestIds = [free!.requestId.toUpperCase(), own!.requestId, others!.requestId, UNKNOWN];
    const batch = readBatch(await claims({ requestIds }));
    expect(batch.items.map(({ requestId }) => requestId)).toEqual([free!.requestId, own!.requestId]);
    for (const item of batch.items) {
      const { params: _, ...stored } = await readRequest(target, item.requestId);
      expect([item.status, item.claimedBy?.toLowerCase()]).toEqual(['processing', owner.address.toLowerCase()]);
      expect(item).toEqual(stored);
    }
    expect(batch.conflicts).toEqual([
      { requestId: others!.requestId, status: 'processing', reason: 'claimed' },
      { requestId: UNKNOWN, reason: 'unknown' },
    ]);
  },
);

covers(['batch.bytes'], 'a batch is answered whole, however large its params are, and without them', async () => {
  const body = writeBody(target);
  const payload = `0x${'ab'.repeat(25_000)}`;
  // More than a megabyte.
  const ids = await Promise.all(
    Array.from({ length: 24 }, async () => {
      const large = { ...body, params: { ...(body.params as object), payload, dataId: randomHex(32) } };
      return (await createRequest(target, large)).requestId;
    }),
  );
  const claimed = readBatch(await claims({ requestIds: ids }));
  const entries = ids.map((requestId) => ({ requestId, status: 'success', txHash: randomHex(32) }));
  const reported = readBatch(await reports({ reports: entries }));
  for (const { items, conflicts } of [claimed, reported]) {
    expect([items.map(({ requestId }) => requestId), conflicts]).toEqual([ids, []]);
  }
});

covers(['batch.once'], 'of rivals for the same batch each request has one winner', async () => {
  const requestIds = (await createMany(20)).map(({ requestId }) => requestId);
  const answers = await Promise.all(target.relayers.slice(0, 6).map((relayer) => claims({ requestIds }, relayer)));
  const won = answers.flatMap((answer) => readBatch(answer).items.map(({ requestId }) => requestId));
  expect(won.sort()).toEqual(requestIds.sort());
});

covers(
  ['reportRequests.200', 'batch.reports', 'batch.conflicts'],
  'a batch reports what the relayer holds; a conflict only concerns its own entry',
  async () => {
    const [done, broken, pending] = await createMany(3);
    await claims({ requestIds: [done!.requestId, broken!.requestId] });
    const txHash = randomHex(32);
    const batch = readBatch(
      await reports({
        reports: [
          { requestId: done!.requestId, status: 'success', txHash },
          { requestId: pending!.requestId, status: 'success', txHash },
          { requestId: broken!.requestId, status: 'failed', errorMessage: 'execution reverted' },
        ],
      }),
    );
    expect(batch.items).toMatchObject([
      { requestId: done!.requestId, status: 'success', txHash },
      { requestId: broken!.requestId, status: 'failed', errorMessage: 'execution reverted' },
    ]);
    expect(batch.conflicts).toEqual([{ requestId: pending!.requestId, status: 'pending', reason: 'unclaimed' }]);
  },
);

covers(
  ['claimRequests.400', 'reportRequests.400', 'batch.whole'],
  'a body that is not valid is refused as a whole, each fault by its path',
  async () => {
    const { requestId } = await createRequest(target);
    for (const [json, paths] of [
      [{ requestIds: [] }, ['requestIds']],
      [{ requestIds: Array.from({ length: 101 }, () => requestId) }, ['requestIds']],
      [{ requestIds: [requestId, requestId.toUpperCase()] }, ['requestIds[1]']],
      [{ requestIds: [requestId, 'x'] }, ['requestIds[1]']],
      [{ chainName: chainOf(target), limit: 1 }, ['requestIds', 'chainName', 'limit']],
      [{}, ['requestIds']],
      [{ requestIds: [requestId], limit: 1 }, ['limit']],
    ] as const) {
      const answer = await claims(json);
      expect(answer.status, answer.text).toBe(400);
      expect(faultPaths(answer)).toEqual(expect.arrayContaining([...paths]));
    }
    const entry = { requestId, status: 'success', txHash: randomHex(32) };
    for (const [json, path] of [
      [{ reports: [] }, 'reports'],
      [{ reports: [entry, { requestId, status: 'failed', errorMessage: 'twice' }] }, 'reports[1].requestId'],
      [{ reports: [{ ...entry, txHash: '0x' }] }, 'reports[0].txHash'],
      [{ reports: [{ ...entry, errorMessage: 'both' }] }, 'reports[0].errorMessage'],
      [{ reports: [{ ...entry, status: 'processing' }] }, 'reports[0].status'],
    ] as const) {
      const answer = await reports(json);
      expect(answer.status, answer.text).toBe(400);
      expect(faultPaths(answer)).toContain(path);
    }
    expect((await readRequest(target, requestId)).status).toBe('pending');
  },
);

covers(
  ['releaseRequest.200', 'release.pending', 'release.gone'],
  'a released request is pending again, without a trace of the claim, for anyone to claim',
  async () => {
    const before = await createRequest(target);
    await claim(target, before.requestId, owner);
    const released = readRecord(await release(before.requestId));
    expect({ ...released, updatedAt: before.updatedAt }).toEqual(before);
    expect(await readRequest(target, before.requestId)).toEqual(released);
    await claim(target, before.requestId, rival);
  },
);

covers(
  ['releaseRequest.409', 'releaseRequest.404', 'releaseRequest.400', 'release.owner', 'conflict.noChange'],
  'only the relayer that holds a request gives it back',
  async () => {
    const { requestId } = await createRequest(target);
    expect(errorOf(await release(requestId))).toMatch(/pending/);
    const record = await claim(target, requestId, rival);
    const answer = await release(requestId);
    expect(answer.status).toBe(409);
    expect(errorOf(answer)).toMatch(/processing.*pending/);
    expect(await readRequest(target, requestId)).toEqual(record);
    expect((await release(UNKNOWN)).status).toBe(404);
    expect((await release('not-a-uuid')).status).toBe(400);
  },
);

covers(['release.bound'], 'a release that names its claim gives back no later one', async () => {
  const { requestId } = await createRequest(target);
  const { claimedAt } = await claim(target, requestId, owner);
  expect((await release(requestId, owner, { claimedAt: '2026-01-01' })).status).toBe(400);
  expect((await release(requestId, owner, { claimedAt: '2026-01-01T00:00:00.000Z' })).status).toBe(409);
  expect((await release(requestId, owner, { claimedAt })).status).toBe(200);
  const later = await claim(target, requestId, owner);
  expect((await release(requestId, owner, { claimedAt })).status).toBe(409);
  expect(await readRequest(target, requestId)).toEqual(later);
});

covers(
  ['claimRequests.401', 'reportRequests.401', 'releaseRequest.401'],
  'without a relayer’s signature nothing of it is answered',
  async () => {
    const { requestId } = await createRequest(target);
    const calls = [
      { path: '/requests/claims', json: { requestIds: [requestId] } },
      { path: '/requests/reports', json: { reports: [{ requestId, status: 'failed', errorMessage: 'no' }] } },
      { path: `/requests/${requestId}/release` },
    ];
    for (const call of calls) expect((await callApi(target, { method: 'POST', ...call })).status).toBe(401);
  },
);
