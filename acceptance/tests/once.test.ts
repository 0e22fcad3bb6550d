import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import {
  claim,
  createRequest,
  type Json,
  readRecord,
  readRequest,
  updateRequest,
  writeBody,
  writeParams,
} from '../rig/requests.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const post = (json: Json, once = 'true') =>
  callApi(target, { method: 'POST', path: '/requests', query: { once }, json });

covers(['createRequest.200', 'once.asked'], 'a signature that is posted once is stored once', async () => {
  const body = writeBody(target);
  const first = await post(body);
  expect(first.status, first.text).toBe(201);
  const record = readRecord(first);
  const again = await post(body);
  expect(again.status, again.text).toBe(200);
  expect(readRecord(again)).toEqual(record);
  const claimed = await claim(target, record.requestId);
  expect(readRecord(await post(body))).toEqual(claimed);
});

covers(
  ['once.asked'],
  'batches of many users are told apart by their entries, for they carry no signature',
  async () => {
    const none = `0x${'00'.repeat(32)}`;
    const { cloudId: _, dataId: __, payload: ___, ...outer } = writeParams({ v: 0, r: none, s: none });
    const postBatch = (entry: Json) =>
      post({ ...writeBody(target), action: 'BATCH_MULTI_USER_WRITE_DATA', params: { ...outer, requests: [entry] } });
    const entry = writeParams();
    const first = await postBatch(entry);
    expect(first.status, first.text).toBe(201);
    expect((await postBatch(writeParams())).status).toBe(201);
    const again = await postBatch(entry);
    expect([again.status, readRecord(again).requestId]).toEqual([200, readRecord(first).requestId]);
  },
);

covers(
  ['once.asked'],
  'a signature is found however it was posted, and posted again by whoever does not ask',
  async () => {
    const body = writeBody(target);
    const plain = await createRequest(target, body);
    const found = await post(body);
    expect([found.status, readRecord(found).requestId]).toEqual([200, plain.requestId]);
    const other = await createRequest(target, body);
    expect(other.requestId).not.toBe(plain.requestId);
    const kept = await post(body, 'false');
    expect(kept.status).toBe(201);
  },
);

covers(['once.body'], 'another body that was posted first under the same signature is not the answer', async () => {
  const body = writeBody(target);
  const params = body.params as Json;
  const forged = await post({ ...body, params: { ...params, payload: '0xdead' } });
  const modified = await post({ ...body, action: 'MODIFY_DATA_FOR' });
  const honest = await post(body);
  expect([forged.status, modified.status, honest.status]).toEqual([201, 201, 201]);
  expect(readRecord(honest)).toMatchObject({ action: 'WRITE_DATA_FOR', params });
  const reordered = Object.fromEntries(Object.entries(params).reverse());
  const again = await post({ ...body, params: { ...reordered, r: String(params.r).toUpperCase().replace('X', 'x') } });
  expect([again.status, readRecord(again).requestId]).toEqual([200, readRecord(honest).requestId]);
});

covers(['once.failed'], 'a record that ended failed does not stand in the way of a new one', async () => {
  const body = writeBody(target);
  const { requestId } = readRecord(await post(body));
  await claim(target, requestId);
  const json = { status: 'failed', errorMessage: 'execution reverted' };
  expect((await updateRequest(target, { requestId, json })).status).toBe(200);
  const again = await post(body);
  expect(again.status, again.text).toBe(201);
  expect(readRecord(await post(body)).requestId).toBe(readRecord(again).requestId);
});

covers(['once.asked'], 'of many posts of one signature one is stored', async () => {
  const body = writeBody(target);
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
  const ids = new Set(answers.map((answer) => readRecord(answer).requestId));
  expect(ids.size).toBe(1);
  expect((await readRequest(target, [...ids][0] ?? '')).status).toBe('pending');
});

covers(
  ['createRequest.400'],
  'any other word than true and false is refused, with the faults of the body',
  async () => {
    const answer = await post({ ...writeBody(target), action: 'NONE' }, 'yes');
    expect(answer.status).toBe(400);
    expect(faultPaths(answer)).toEqual(expect.arrayContaining(['once', 'action']));
  },
);
