import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import { claim, createRequest, readRecord, readRequest } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const read = (requestId: string) => callApi(target, { path: `/requests/${requestId}` });

covers(['readRequest.200', 'record.fields', 'record.absent'], 'anyone reads the whole record', async () => {
  const record = await createRequest(target);
  expect(await readRequest(target, record.requestId)).toEqual(record);
  const fields = ['requestId', 'chainName', 'action', 'signer', 'status', 'params', 'createdAt', 'updatedAt'];
  expect(Object.keys(record).sort()).toEqual(fields.sort());
});

covers(['readRequest.404', 'requestId.anyVersion'], 'an id of any version that is no request is 404', async () => {
  const versions = ['1', '2', '3', '4', '5', '6', '7', '8'].map((version) =>
    randomUUID().replace(/^(.{14})4/, `$1${version}`),
  );
  const variants = ['8', '9', 'a', 'b', 'B'].map((variant) => randomUUID().replace(/^(.{19})./, `$1${variant}`));
  const others = [
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  ];
  for (const id of [...versions, ...variants, ...others, randomUUID().toUpperCase()]) {
    expect([id, (await read(id)).status]).toEqual([id, 404]);
  }
});

covers(['readRequest.400', 'requestId.other'], 'any other text is 400', async () => {
  const id = randomUUID();
  const wrong = [
    '1',
    'x',
    id.slice(1),
    `${id}0`,
    id.replaceAll('-', ''),
    `{${id}}`,
    `urn:uuid:${id}`,
    id.replace(/.$/, 'g'),
    id.replace('-', '_'),
    `${id}%20`,
    `${id}%00`,
    'null',
    "'--",
    id.replace(/^(.{14})4/, '$19'),
    id.replace(/^(.{14})4/, '$10'),
    id.replace(/^(.{19})./, '$1c'),
    'é',
    '%ff',
  ];
  for (const text of wrong) expect([text, ...faultPaths(await read(text))]).toEqual([text, 'requestId']);
});

covers(['requestId.case'], 'an id is looked up without regard to case, by GET and by PATCH', async () => {
  const record = await createRequest(target);
  const upper = record.requestId.toUpperCase();
  const answer = await read(upper);
  expect([answer.status, answer.body]).toEqual([200, record]);
  const claimed = await claim(target, upper, relayerAt(target, 2));
  expect(claimed.requestId).toBe(record.requestId);
  expect((await readRequest(target, record.requestId)).status).toBe('processing');
});

covers(['query.unknown'], 'a query does not matter here', async () => {
  const record = await createRequest(target);
  const answer = await callApi(target, { path: `/requests/${record.requestId}`, query: 'status=&status=x&limit=0' });
  expect([answer.status, readRecord(answer).requestId]).toEqual([200, record.requestId]);
});
