import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import type { HttpRequest, HttpResponse } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readRecord, writeBody, writeParams } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();

type Body = Pick<HttpRequest, 'body' | 'json' | 'contentType'>;
type Send = (body: Body) => Promise<HttpResponse>;

const postRequest: Send = (body) => callApi(target, { method: 'POST', path: '/requests', ...body });
const postRelayer: Send = (body) =>
  callApi(target, { method: 'POST', path: '/admin/relayers', headers: { 'x-admin-key': target.adminKey }, ...body });
const patchRequest: Send = (body) =>
  callAsRelayer(target, {
    method: 'PATCH',
    path: `/requests/${crypto.randomUUID()}`,
    relayer: relayerAt(target, 0),
    ...body,
  });
const senders = [postRequest, postRelayer, patchRequest];

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

covers(
  ['json.malformed', 'createRequest.400', 'updateRequest.400', 'addRelayer.400'],
  'no body, no JSON or no object is 400',
  async () => {
    for (const send of senders) {
      for (const body of [
        '',
        ' ',
        '{',
        '{"a":1}}',
        "{'a':1}",
        '{"a":NaN}',
        'null',
        'true',
        '7',
        '"text"',
        '[]',
        '[{}]',
      ]) {
        const paths = faultPaths(await send({ body }));
        expect([body, paths.length > 0]).toEqual([body, true]);
      }
    }
  },
);

covers(['json.utf8'], 'invalid UTF-8 is 400', async () => {
  const forms = [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]];
  for (const form of forms) {
    const body = bytes(`{"address":"${randomHex(20)}","label":"x`, form, '"}');
    expect(faultPaths(await postRelayer({ body }))).toEqual(['body']);
  }
});

covers(['json.bom'], 'a byte order mark is 400', async () => {
  const body = JSON.stringify(writeBody(target));
  expect(faultPaths(await postRequest({ body: bytes([0xef, 0xbb, 0xbf], body) }))).toEqual(['body']);
  expect((await postRequest({ body: Buffer.from(`\ufeff${body}`, 'utf16le') })).status).toBe(400);
  expect((await postRequest({ body })).status).toBe(201);
});

covers(['json.duplicateKey'], 'of a duplicate key the last one counts', async () => {
  const { chainName } = writeBody(target);
  const params = JSON.stringify(writeParams());
  const twice = (first: string, last: string) =>
    `{"chainName":"${first}","action":"WRITE_DATA_FOR","params":${params},"chainName":"${last}"}`;
  const answer = await postRequest({ body: twice('not valid!', `${chainName}`) });
  expect(answer.status, answer.text).toBe(201);
  expect(readRecord(answer).chainName).toBe(chainName);
  expect(faultPaths(await postRequest({ body: twice(`${chainName}`, 'not valid!') }))).toEqual(['chainName']);

  const { requestId } = await createRequest(target);
  const body = '{"status":"failed","status":"processing"}';
  const claimed = await callAsRelayer(target, {
    method: 'PATCH',
    path: `/requests/${requestId}`,
    relayer: relayerAt(target, 0),
    body,
  });
  expect([claimed.status, readRecord(claimed).status]).toEqual([200, 'processing']);
});

covers(
  ['json.duplicateKey'],
  'a duplicate key deep in the params: what is stored and returned is the last one',
  async () => {
    const params = JSON.stringify(writeParams({ payload: '0x02' })).replace('{', '{"payload":"0x01",');
    const body = `{"chainName":"${writeBody(target).chainName}","action":"WRITE_DATA_FOR","params":${params}}`;
    const answer = await postRequest({ body });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.text).not.toContain('0x01"');
    expect(readRecord(answer).params).toMatchObject({ payload: '0x02' });
  },
);

covers(['json.noContentType'], 'a body without a content type is read as JSON', async () => {
  expect((await postRequest({ json: writeBody(target), contentType: null })).status).toBe(201);
  const { requestId } = await createRequest(target);
  const call = { method: 'PATCH', path: `/requests/${requestId}`, relayer: relayerAt(target, 1) } as const;
  expect((await callAsRelayer(target, { ...call, json: { status: 'processing' }, contentType: null })).status).toBe(
    200,
  );
});

covers(
  ['createRequest.415', 'updateRequest.415', 'addRelayer.415', 'signStorage.415'],
  'a body of another content type is 415, one of JSON is not',
  async () => {
    const sign: Send = (body) => callApi(target, { method: 'POST', path: '/storage/sign', ...body });
    const refused = [
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'text/json5',
      'application/octet-stream',
      'json',
      'a, application/json',
    ];
    for (const send of [...senders, sign]) {
      for (const contentType of refused) {
        expect([contentType, (await send({ body: '{}', contentType })).status]).toEqual([contentType, 415]);
      }
    }
    const taken = [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/problem+json',
    ];
    for (const contentType of taken) {
      expect([contentType, (await postRequest({ json: writeBody(target), contentType })).status]).toEqual([
        contentType,
        201,
      ]);
    }
  },
);

covers(
  ['json.unknownFields', 'error.details'],
  'unknown fields are 400 at every level, each named by its own path',
  async () => {
    const permit = { deadline: '1', v: 27, r: randomHex(32), s: randomHex(32), extra: 1 };
    const { cloudId: _, dataId: __, payload: ___, ...shared } = writeParams();
    const creation = { ...shared, fundAmount: '1', salt: '0x01', permit, more: null };
    const json = {
      ...writeBody(target),
      action: 'CREATE_PRISM_FOR',
      params: creation,
      status: 'success',
      requestId: 'x',
      'a b': 1,
    };
    const paths = faultPaths(await postRequest({ json }));
    expect(paths.sort()).toEqual(['["a b"]', 'params.more', 'params.permit.extra', 'requestId', 'status']);

    const { nonce: _nonce, ...entry } = writeParams({ nonce: 1 });
    const requests = [entry, { ...entry, extra: true }, { ...entry, 'x-y': 1 }];
    const batch = { ...writeBody(target), action: 'BATCH_MULTI_USER_WRITE_DATA', params: { ...shared, requests } };
    expect(faultPaths(await postRequest({ json: batch }))).toEqual([
      'params.requests[1].extra',
      'params.requests[2]["x-y"]',
    ]);

    expect(faultPaths(await postRelayer({ json: { address: randomHex(20), createdAt: 'x', role: 1 } }))).toEqual([
      'createdAt',
      'role',
    ]);
    expect(faultPaths(await patchRequest({ json: { status: 'processing', claimedBy: 'me' } }))).toEqual(['claimedBy']);
  },
);

covers(['json.proto'], '__proto__ is an unknown field like any other, and constructor too', async () => {
  const body = JSON.stringify(writeBody(target));
  const outer = await postRequest({ body: body.replace('{', '{"__proto__":{"chainName":"x"},"constructor":1,') });
  expect(faultPaths(outer).sort()).toEqual(['__proto__', 'constructor']);
  const inner = await postRequest({ body: body.replace('"params":{', '"params":{"__proto__":{"v":1},') });
  expect(faultPaths(inner)).toEqual(['params.__proto__']);
  const missing = await postRequest({ body: '{"__proto__":{"chainName":"a","action":"WRITE_DATA_FOR","params":{}}}' });
  expect(faultPaths(missing)).toEqual(expect.arrayContaining(['__proto__', 'chainName', 'action', 'params']));
  expect(faultPaths(await postRelayer({ body: `{"address":"${randomHex(20)}","__proto__":{}}` }))).toEqual([
    '__proto__',
  ]);
  expect(faultPaths(await patchRequest({ body: '{"status":"processing","__proto__":null}' }))).toEqual(['__proto__']);
});

covers(['error.everyFault'], 'one answer names every fault of body and path', async () => {
  const params = { cloudId: 'x', dataId: 7, relayerFee: '01', signer: '0x', v: 256, r: null, more: 1 };
  const answer = await postRequest({ json: { chainName: '', action: 'WRITE_DATA_FOR', params, extra: 1 } });
  expect(faultPaths(answer).sort()).toEqual([
    'chainName',
    'extra',
    'params.cloudId',
    'params.dataId',
    'params.more',
    'params.payload',
    'params.r',
    'params.relayerFee',
    'params.s',
    'params.signer',
    'params.timestamp',
    'params.v',
  ]);
  const relayer = relayerAt(target, 0);
  const both = await callAsRelayer(target, { method: 'PATCH', path: '/requests/7', json: { status: 'done' }, relayer });
  expect(faultPaths(both).sort()).toEqual(['requestId', 'status']);
});

covers(['error.detailsOfValidationOnly'], 'details come with 400 alone', async () => {
  const { requestId } = await createRequest(target);
  await claim(target, requestId);
  const again = await callAsRelayer(target, {
    method: 'PATCH',
    path: `/requests/${requestId}`,
    json: { status: 'processing' },
    relayer: relayerAt(target, 1),
  });
  expect([again.status, Object.keys(again.body as object)]).toEqual([409, ['error', 'code']]);
  const missing = await callApi(target, { path: `/requests/${crypto.randomUUID()}` });
  expect([missing.status, Object.keys(missing.body as object)]).toEqual([404, ['error', 'code']]);
});

covers(['text.surrogates'], 'half of a surrogate pair is 400', async () => {
  for (const label of ['\\ud800', 'x\\udc00', '\\udc00\\ud800']) {
    const body = `{"address":"${randomHex(20)}","label":"${label}"}`;
    expect([label, faultPaths(await postRelayer({ body }))]).toEqual([label, ['label']]);
  }
});
