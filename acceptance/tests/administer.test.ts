import {
  type AuditPage,
  auditPageSchema,
  queueStatsSchema,
  requestPurgedSchema,
  serviceSchema,
} from '@prism-gateway/protocol';
import { expect } from 'vitest';
import { addRelayer } from '../rig/addRelayer.ts';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import { errorOf, faultPaths } from '../rig/faults.ts';
import type { HttpRequest, HttpResponse } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import {
  chainOf,
  claim,
  createRequest,
  readPage,
  readRecord,
  readRequest,
  updateRequest,
  writeBody,
} from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();

const admin = (call: HttpRequest) => callApi(target, { ...call, headers: { 'x-admin-key': target.adminKey } });
const release = (requestId: string) => admin({ method: 'POST', path: `/admin/requests/${requestId}/release` });
const fail = (requestId: string, json: unknown = { errorMessage: 'given up' }) =>
  admin({ method: 'POST', path: `/admin/requests/${requestId}/fail`, json });
const reopen = (requestId: string) => admin({ method: 'POST', path: `/admin/requests/${requestId}/reopen` });
const purge = (requestId: string) => admin({ method: 'DELETE', path: `/admin/requests/${requestId}` });

/** Walks a list to its end. */
async function walk(query: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  let lastKey: string | null = null;
  do {
    const cursor: Record<string, string> = lastKey === null ? {} : { lastKey };
    const page = readPage(await admin({ path: '/admin/requests', query: { ...query, ...cursor } }));
    found.push(...page.items.map(({ requestId }) => requestId));
    lastKey = page.lastKey;
  } while (lastKey !== null);
  return found;
}

covers(['listAllRequests.200', 'admin.list'], 'an administrator lists by any filter, each record once', async () => {
  const chainName = chainOf(target, '.admin');
  const relayer = relayerAt(target, 0);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await createRequest(target, writeBody(target, { chainName }))).requestId);
  const held = ids.slice(0, 2);
  for (const requestId of held) await claim(target, requestId, relayer);
  expect(await walk({ chainName, limit: '2' })).toEqual(ids);
  expect(await walk({ chainName, limit: '1', order: 'desc' })).toEqual(ids.toReversed());
  expect(await walk({ chainName, status: 'pending' })).toEqual(ids.slice(2));
  expect(await walk({ chainName, relayer: relayer.address.toUpperCase().replace('0X', '0x'), limit: '1' })).toEqual(
    held,
  );
  expect(await walk({ chainName, relayer: randomHex(20) })).toEqual([]);
  const done = await createRequest(target, writeBody(target, { chainName: chainOf(target, '.done') }));
  await claim(target, done.requestId, relayer);
  const txHash = randomHex(32);
  await updateRequest(target, { requestId: done.requestId, json: { status: 'success', txHash }, relayer });
  expect(await walk({ txHash: txHash.toUpperCase().replace('0X', '0x'), order: 'desc' })).toEqual([done.requestId]);
  expect(await walk({ chainName, txHash })).toEqual([]);
  expect(await walk({ relayer: relayer.address, limit: '100' })).toEqual(expect.arrayContaining(held));
  const all = await walk({ limit: '100', order: 'desc' });
  // Those of other tests move from list to list meanwhile.
  expect(all.filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
  for (const requestId of held) expect((await release(requestId)).status).toBe(200);
});

covers(['listAllRequests.400'], 'a wrong filter, or a cursor of another list, is 400', async () => {
  const answer = await admin({ path: '/admin/requests', query: { relayer: '0x12', status: 'open', limit: '0' } });
  expect(answer.status).toBe(400);
  expect(faultPaths(answer)).toEqual(expect.arrayContaining(['relayer', 'status', 'limit']));
  const [chainName, signer] = [chainOf(target, '.cursor'), randomHex(20)];
  for (let n = 0; n < 2; n++) await createRequest(target, writeBody(target, { chainName, params: { signer } }));
  const firstCursor = (list: (call: HttpRequest) => Promise<HttpResponse>, call: HttpRequest) =>
    eventually(async () => {
      const { lastKey } = readPage(await list(call));
      expect(lastKey).not.toBeNull();
      return lastKey ?? '';
    });
  const lastKey = await firstCursor(admin, { path: '/admin/requests', query: { chainName, limit: '1' } });
  const anybody = (call: HttpRequest) => callApi(target, call);
  const publicKey = await firstCursor(anybody, { path: '/requests', query: { signer, limit: '1' } });
  for (const query of [
    { status: 'pending', lastKey },
    { chainName, order: 'desc', lastKey },
    { chainName, relayer: randomHex(20), lastKey },
    { signer, lastKey: publicKey },
  ]) {
    const refused = await admin({ path: '/admin/requests', query });
    expect([query, refused.status]).toEqual([query, 400]);
  }
});

covers(
  ['releaseClaim.200', 'releaseClaim.409'],
  'a claimed request is given back, and the late report is 409',
  async () => {
    const { requestId } = await createRequest(target);
    expect((await release(requestId)).status).toBe(409);
    await claim(target, requestId);
    const answer = await release(requestId.toUpperCase());
    expect(answer.status, answer.text).toBe(200);
    expect(readRecord(answer)).toMatchObject({ requestId, status: 'pending' });
    expect(readRecord(answer)).not.toHaveProperty('claimedBy');
    const late = await updateRequest(target, { requestId, json: { status: 'failed', errorMessage: 'late' } });
    expect(late.status).toBe(409);
  },
);

covers(
  ['failRequest.200', 'failRequest.400', 'failRequest.409'],
  'a claimed request is ended with a reason',
  async () => {
    const { requestId } = await createRequest(target);
    expect((await fail(requestId)).status).toBe(409);
    await claim(target, requestId);
    for (const json of [{}, { errorMessage: '' }, { errorMessage: 'x', status: 'failed' }, 'no']) {
      expect([json, (await fail(requestId, json)).status]).toEqual([json, 400]);
    }
    const answer = await fail(requestId, { errorMessage: 'the relayer is gone 💸' });
    expect(answer.status, answer.text).toBe(200);
    expect(await readRequest(target, requestId)).toMatchObject({
      status: 'failed',
      errorMessage: 'the relayer is gone 💸',
    });
    expect((await fail(requestId)).status).toBe(409);
  },
);

covers(
  ['reopenRequest.200', 'reopenRequest.409'],
  'what a relayer reported failed is reopened once that relayer is suspended, and another one carries it out',
  async () => {
    const relayer = await addRelayer(target);
    const { requestId } = await createRequest(target);
    expect((await reopen(requestId)).status).toBe(409);
    await claim(target, requestId, relayer);
    await updateRequest(target, { requestId, json: { status: 'failed', errorMessage: 'a lie' }, relayer });
    const early = await reopen(requestId);
    expect([early.status, errorOf(early)]).toEqual([409, expect.stringMatching(/not suspended/)]);
    await admin({ method: 'POST', path: `/admin/relayers/${relayer.address}/suspend`, json: { reason: 'it lies' } });
    const answer = await reopen(requestId.toUpperCase());
    expect(answer.status, answer.text).toBe(200);
    const record = readRecord(answer);
    expect(record).toMatchObject({ requestId, status: 'pending' });
    for (const field of ['claimedBy', 'claimedAt', 'errorMessage']) expect(record).not.toHaveProperty(field);
    expect((await reopen(requestId)).status).toBe(409);
    await claim(target, requestId);
    const json = { status: 'success', txHash: randomHex(32) };
    expect((await updateRequest(target, { requestId, json })).status).toBe(200);
  },
);

covers(
  ['purgeRequest.200', 'purgeRequest.404', 'purgeRequest.409'],
  'what nobody holds is removed for good',
  async () => {
    const { requestId } = await createRequest(target);
    await claim(target, requestId);
    const held = await purge(requestId);
    expect([held.status, errorOf(held)]).toEqual([409, expect.stringMatching(/release it/)]);
    await release(requestId);
    const answer = await purge(requestId);
    expect([answer.status, requestPurgedSchema.parse(answer.body).requestId]).toEqual([200, requestId]);
    expect((await callApi(target, { path: `/requests/${requestId}` })).status).toBe(404);
    expect((await purge(requestId)).status).toBe(404);
  },
);

covers(
  [
    'releaseClaim.404',
    'failRequest.404',
    'reopenRequest.404',
    'releaseClaim.400',
    'failRequest.400',
    'reopenRequest.400',
    'purgeRequest.400',
  ],
  'an unknown request is 404, and what is no id 400',
  async () => {
    for (const act of [release, fail, reopen]) expect((await act(crypto.randomUUID())).status).toBe(404);
    for (const act of [release, fail, reopen, purge]) expect((await act('42')).status).toBe(400);
  },
);

/** How late stats may be: DynamoDB's stream tells of moves some seconds after them. */
const STATS_LATE_MS = 30_000;

covers(['readStats.200'], 'the stats tell what has just been done', async () => {
  const chainName = chainOf(target, '.stats');
  const relayer = relayerAt(target, 1);
  const { requestId } = await createRequest(target, writeBody(target, { chainName }));
  await createRequest(target, writeBody(target, { chainName }));
  await claim(target, requestId, relayer);
  const json = { status: 'success', txHash: randomHex(32) };
  expect((await updateRequest(target, { requestId, json, relayer })).status).toBe(200);
  const read = async () => queueStatsSchema.parse((await admin({ path: '/admin/stats' })).body);
  const ofChain = async () => (await read()).chains.find((chain) => chain.chainName === chainName);
  await expect.poll(ofChain, { timeout: STATS_LATE_MS }).toMatchObject({ pending: 1, success: 1 });
  const stats = await read();
  const own = stats.relayers.find(({ address }) => address.toLowerCase() === relayer.address.toLowerCase());
  expect(own?.success).toBeGreaterThanOrEqual(1);
  expect(stats.oldestPendingAt).toBeDefined();
  expect(stats.minutes.length).toBeGreaterThan(0);
  expect(stats.hours.length).toBeGreaterThan(0);
});

covers(
  ['admin.programs'],
  'beside the stats stands what other programs say, and where transactions are shown',
  async () => {
    const { body } = await admin({ path: '/admin/stats', query: { about: 'pi_1' } });
    const { programs, explorers } = queueStatsSchema.parse(body);
    for (const { status, error } of programs)
      expect([status, error].filter((one) => one !== undefined)).toHaveLength(1);
    for (const link of Object.values(explorers)) expect(link).toContain('{hash}');
  },
);

covers(['admin.wait', 'readStats.400'], 'a call that knows the stats waits until they are others', async () => {
  const stats = async (query: Record<string, string> = {}) =>
    queueStatsSchema.parse((await admin({ path: '/admin/stats', query })).body);
  const { version } = await stats();
  const chainName = chainOf(target, '.wait');
  const waiting = stats({ seen: version, wait: '25' });
  await createRequest(target, writeBody(target, { chainName }));
  let changed = await waiting;
  // On a busy function the POST may take its turn late: from its answer on, the stats are others within one more wait.
  if (changed.version === version) changed = await stats({ seen: version, wait: '25' });
  expect(changed.version).not.toBe(version);
  for (const query of [{ wait: '1' }, { seen: 'x' }, { seen: version, wait: '26' }, { about: 'a b' }]) {
    expect([query, (await admin({ path: '/admin/stats', query })).status]).toEqual([query, 400]);
  }
});

covers(['listActs.200', 'listActs.400'], 'acts are listed newest first, and none that was refused', async () => {
  const first = await createRequest(target);
  const second = await createRequest(target);
  await claim(target, second.requestId);
  expect((await fail(second.requestId, { errorMessage: 'gone' })).status).toBe(200);
  expect((await release(first.requestId)).status).toBe(409);
  expect((await purge(first.requestId)).status).toBe(200);
  const acts: AuditPage['items'] = [];
  for (let lastKey: string | null = ''; lastKey !== null; ) {
    const query = { limit: '2', ...(lastKey !== '' && { lastKey }) };
    const page: AuditPage = auditPageSchema.parse((await admin({ path: '/admin/audit', query })).body);
    acts.push(...page.items);
    lastKey = acts.some(({ target: done }) => done === second.requestId) ? null : page.lastKey;
  }
  const own = acts.filter(({ target: done }) => [first.requestId, second.requestId].includes(done));
  expect(own.map(({ act, reason }) => [act, reason])).toEqual([
    ['requests.purge', undefined],
    ['requests.fail', 'gone'],
  ]);
  expect(own[0]?.keyId).toMatch(/^[0-9a-f]{12}$/);
  for (const query of [{ limit: '0' }, { limit: '101' }, { lastKey: 'x' }, { lastKey: '1x' }]) {
    expect([query, (await admin({ path: '/admin/audit', query })).status]).toEqual([query, 400]);
  }
});

covers(['admin.list'], 'a range of time and a target are told apart', async () => {
  const chainName = chainOf(target, '.range');
  const made: Awaited<ReturnType<typeof createRequest>>[] = [];
  for (let n = 0; n < 3; n++) {
    made.push(await createRequest(target, writeBody(target, { chainName })));
    while (Date.now() <= Date.parse(made.at(-1)?.createdAt ?? '')) await new Promise(setImmediate);
  }
  const [first, second, third] = made.map(({ requestId, createdAt }) => ({ requestId, createdAt }));
  const range = { chainName, from: second?.createdAt ?? '', to: third?.createdAt ?? '' };
  expect(await walk(range)).toEqual([second?.requestId]);
  const all = await walk({ from: first?.createdAt ?? '', limit: '1', order: 'desc' });
  expect(all.filter((id) => made.some(({ requestId }) => requestId === id))).toEqual(
    made.map(({ requestId }) => requestId).toReversed(),
  );
  await purge(second?.requestId ?? '');
  const { items } = auditPageSchema.parse(
    (await admin({ path: '/admin/audit', query: { target: second?.requestId.toUpperCase() ?? '' } })).body,
  );
  expect(items).toMatchObject([{ act: 'requests.purge', target: second?.requestId }]);
  for (const from of ['yesterday', '2026-13-01T00:00:00.000Z']) {
    expect([from, (await admin({ path: '/admin/requests', query: { from } })).status]).toEqual([from, 400]);
  }
});

covers(['readService.200'], 'the limits in force are reported', async () => {
  const service = serviceSchema.parse((await admin({ path: '/admin/service' })).body);
  expect(service).toMatchObject({ maxBodyBytes: target.maxBodyBytes, maxBatchSize: target.maxBatchSize });
  expect(Object.keys(service.limits)).toEqual(expect.arrayContaining(['reads', 'writes', 'claims', 'admin-failures']));
});

covers(
  [
    'listAllRequests.401',
    'readStats.401',
    'listActs.401',
    'readService.401',
    'releaseClaim.401',
    'failRequest.401',
    'reopenRequest.401',
    'purgeRequest.401',
  ],
  'without the key nothing is reported and nothing done',
  async () => {
    const { requestId } = await createRequest(target);
    const path = `/admin/requests/${requestId}`;
    const calls: HttpRequest[] = [
      { path: '/admin/requests' },
      { path: '/admin/stats' },
      { path: '/admin/audit' },
      { path: '/admin/service' },
      { method: 'POST', path: `${path}/release` },
      { method: 'POST', path: `${path}/fail`, json: { errorMessage: 'x' } },
      { method: 'POST', path: `${path}/reopen` },
      { method: 'DELETE', path },
    ];
    for (const call of calls) expect([call, (await callApi(target, call)).status]).toEqual([call, 401]);
    expect((await readRequest(target, requestId)).status).toBe('pending');
  },
);
