import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import type { HttpResponse } from '../rig/httpMessage.ts';
import { randomHex } from '../rig/randomHex.ts';
import { chainOf, createRequest, type Json, updateRequest, writeBody, writeParams } from '../rig/requests.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const post = (json: unknown): Promise<HttpResponse> => callApi(target, { method: 'POST', path: '/requests', json });
const write = (params: Json) => post(writeBody(target, { params }));
const { cloudId: _c, dataId: _d, payload: _p, ...shared } = writeParams();
const act = (action: string, params: Json) => post({ ...writeBody(target), action, params: { ...shared, ...params } });
const create = (params: Json) => act('CREATE_PRISM_FOR', { fundAmount: '1', salt: '0x01', ...params });

/** Sends each wrong value of a field in a request of its own, and expects the one fault. */
async function expectRefused(
  field: string,
  values: readonly unknown[],
  send: (params: Json) => Promise<HttpResponse>,
): Promise<void> {
  for (const value of values) {
    const paths = faultPaths(await send({ [field]: value }));
    expect([value, ...new Set(paths)]).toEqual([value, `params.${field}`]);
  }
}

async function expectTaken(
  field: string,
  values: readonly unknown[],
  send: (params: Json) => Promise<HttpResponse>,
): Promise<void> {
  for (const value of values) {
    const answer = await send({ [field]: value });
    expect([value, answer.status]).toEqual([value, 201]);
    expect((answer.body as { params: Json }).params[field]).toEqual(value);
  }
}

const WRONG_TYPES = [null, 7, true, {}, ['0x01']];

covers(['format.chainName'], 'chainName', async () => {
  const longest = chainOf(target, '.').padEnd(64, 'x');
  for (const chainName of [longest, chainOf(target, ':1'), chainOf(target, '_-.:a'), chainOf(target, 'Z9')]) {
    expect((await createRequest(target, writeBody(target, { chainName }))).chainName).toBe(chainName);
  }
  const one = await createRequest(target, writeBody(target, { chainName: '7' }));
  await updateRequest(target, { requestId: one.requestId, json: { status: 'processing' } });
  const done = { status: 'failed', errorMessage: 'only its chain name was to be seen' };
  expect((await updateRequest(target, { requestId: one.requestId, json: done })).status).toBe(200);

  const wrong = [
    '',
    `${longest}x`,
    '.a',
    '_a',
    ':a',
    '-a',
    'a b',
    'a/b',
    'a\n',
    'é',
    'a#',
    'a\u0000',
    ' a',
    ...WRONG_TYPES,
  ];
  for (const chainName of wrong) {
    expect([chainName, ...faultPaths(await post(writeBody(target, { chainName })))]).toEqual([chainName, 'chainName']);
  }
});

covers(['format.address'], 'addresses', async () => {
  const wrong = [
    '',
    '0x',
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    'a'.repeat(40),
    `0X${'a'.repeat(40)}`,
    `0x${'g'.repeat(40)}`,
    `${randomHex(20)} `,
    `${randomHex(20)}\n`,
    'name.eth',
    ...WRONG_TYPES,
  ];
  await expectRefused('signer', wrong, write);
  await expectRefused('newOwner', wrong, (params) => act('TRANSFER_PRISM_FOR', { cloudId: '0x01', ...params }));
  await expectTaken('signer', [randomHex(20), `0x${'0'.repeat(40)}`, `0x${'F'.repeat(40)}`], write);
});

covers(['format.ids'], 'cloudId, dataId and salt: 1 to 32 whole bytes', async () => {
  const wrong = [
    '',
    '0x',
    '0x1',
    '0x123',
    `0x${'a'.repeat(63)}`,
    `0x${'a'.repeat(66)}`,
    '0xzz',
    '01',
    '0X01',
    '0x01 ',
    ...WRONG_TYPES,
  ];
  const right = ['0x00', '0xAb', randomHex(31), randomHex(32)];
  await expectRefused('cloudId', wrong, write);
  await expectRefused('dataId', wrong, write);
  await expectRefused('salt', wrong, create);
  await expectTaken('cloudId', right, write);
  await expectTaken('salt', right, create);
});

covers(['format.payload'], 'payload: 0 or more whole bytes', async () => {
  await expectRefused('payload', ['', '0x1', '0xabc', 'ab', '0xgg', '0x 12', '0x12\n', ...WRONG_TYPES], write);
  await expectTaken('payload', ['0x', '0x00', `0x${'Ee'.repeat(5000)}`], write);
});

covers(['format.signature'], 'r, s and v', async () => {
  const wrong = ['', '0x', randomHex(31), randomHex(33), randomHex(32).slice(2), `0x${'g'.repeat(64)}`, ...WRONG_TYPES];
  await expectRefused('r', wrong, write);
  await expectRefused('s', wrong, write);
  await expectRefused('v', [-1, 256, 27.5, '27', null, true, 1e21, [27]], write);
  await expectTaken('v', [0, 1, 27, 28, 255], write);
});

const UINT256 = 2n ** 256n;

covers(['format.decimals'], 'decimal strings: no sign, no leading zeros, at most uint256', async () => {
  const wrong = [
    '',
    '-1',
    '+1',
    '00',
    '01',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '١',
    '1,000',
    `${UINT256}`,
    '9'.repeat(78),
    '9'.repeat(500),
    1,
    0,
    ...WRONG_TYPES.slice(2),
  ];
  const right = ['0', '1', `${UINT256 - 1n}`, '9'.repeat(77)];
  for (const field of ['relayerFee', 'timestamp']) {
    await expectRefused(field, wrong, write);
    await expectTaken(field, right, write);
  }
  await expectRefused('fundAmount', wrong, create);
  await expectRefused('relayerFundAmount', wrong, create);
  await expectTaken('fundAmount', right, create);
  await expectTaken('relayerFundAmount', right, create);
});

const permit = { deadline: '1767229200', v: 28, r: randomHex(32), s: randomHex(32) };

covers(['format.permit', 'format.decimals', 'format.signature'], 'permit: strict, and only with funds', async () => {
  await expectTaken('permit', [permit, { ...permit, v: 0, deadline: '0' }], create);
  const faulty = { deadline: '01', v: 300, r: '0x', extra: 1 };
  const names = ['deadline', 'v', 'r', 's', 'extra'].map((name) => `params.permit.${name}`);
  expect(faultPaths(await create({ permit: faulty })).sort()).toEqual(names.sort());
  for (const value of [null, [], 'x', 1])
    expect(faultPaths(await create({ permit: value }))).toEqual(['params.permit']);
  expect(faultPaths(await create({ permit, fundAmount: '0' }))).toEqual(['params.permit']);
  const more = { fundAmount: '0', permit, dataIds: ['0x01'], payloads: ['0x'] };
  expect(faultPaths(await act('CREATE_PRISM_WITH_DATA_FOR', { salt: '0x01', ...more }))).toEqual(['params.permit']);
});

const list = (count: number, value: unknown = '0x01') => Array.from({ length: count }, () => value);

covers(['format.batch', 'createRequest.400'], 'batch arrays: 1 to MAX_BATCH_SIZE, of equal length', async () => {
  const most = target.maxBatchSize;
  for (const action of ['BATCH_WRITE_DATA_FOR', 'BATCH_MODIFY_DATA_FOR'] as const) {
    const batch = (dataIds: unknown, payloads: unknown) => act(action, { cloudId: '0x01', dataIds, payloads });
    expect((await batch(list(1), list(1))).status).toBe(201);
    expect((await batch(list(most), list(most, '0x'))).status).toBe(201);
    expect(faultPaths(await batch([], [])).sort()).toEqual(['params.dataIds', 'params.payloads']);
    const tooLong = faultPaths(await batch(list(most + 1), list(most + 1)));
    expect(tooLong.sort()).toEqual(['params.dataIds', 'params.payloads']);
    expect(faultPaths(await batch(list(2), list(1)))).toEqual(['params.payloads']);
    expect(faultPaths(await batch(list(1), list(2)))).toEqual(['params.payloads']);
    expect(faultPaths(await batch('0x01', list(1)))).toEqual(['params.dataIds']);
  }
  const remove = (dataIds: unknown) => act('BATCH_DELETE_DATA_FOR', { cloudId: '0x01', dataIds });
  expect((await remove(list(most))).status).toBe(201);
  for (const dataIds of [[], list(most + 1), {}, null])
    expect(faultPaths(await remove(dataIds))).toEqual(['params.dataIds']);
  const unequal = { salt: '0x01', fundAmount: '0', dataIds: list(2), payloads: list(3) };
  expect(faultPaths(await act('CREATE_PRISM_WITH_DATA_FOR', unequal))).toEqual(['params.payloads']);
});

covers(['error.details', 'format.batch'], 'a fault in an array is named with its place', async () => {
  const params = { cloudId: '0x01', dataIds: ['0x01', '0x', 3], payloads: ['0x1', '0x', null] };
  const paths = faultPaths(await act('BATCH_WRITE_DATA_FOR', params));
  expect(paths.sort()).toEqual(['params.dataIds[1]', 'params.dataIds[2]', 'params.payloads[0]', 'params.payloads[2]']);
});

covers(['format.multiUser'], 'requests[]: each entry complete and strict', async () => {
  const multi = (requests: unknown) => act('BATCH_MULTI_USER_WRITE_DATA', { requests });
  expect((await multi([writeParams(), writeParams()])).status).toBe(201);
  expect((await multi(list(target.maxBatchSize, writeParams()))).status).toBe(201);
  expect(faultPaths(await multi([]))).toEqual(['params.requests']);
  expect(faultPaths(await multi(list(target.maxBatchSize + 1, writeParams())))).toEqual(['params.requests']);
  const names = ['signer', 'cloudId', 'dataId', 'payload', 'relayerFee', 'timestamp', 'v', 'r', 's'];
  const missing = faultPaths(await multi([writeParams(), {}]));
  expect(missing.sort()).toEqual(names.map((name) => `params.requests[1].${name}`).sort());
  const wrong = faultPaths(await multi([writeParams({ signer: '0x', v: -1 }), 7]));
  expect(wrong.sort()).toEqual(['params.requests[0].signer', 'params.requests[0].v', 'params.requests[1]']);
});
