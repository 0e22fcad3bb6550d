import { ACTIONS, type Action } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { faultPaths } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { chainOf, createRequest, type Json, readRequest, writeBody } from '../rig/requests.ts';
import { readTarget } from '../rig/target.ts';

const target = readTarget();

const post = (json: unknown) => callApi(target, { method: 'POST', path: '/requests', json });

/** The params of each action, as docs/specification.md lists them above PARAM-1. */
const OWN_PARAMS: Readonly<Record<Action, { required: string[]; optional: string[] }>> = {
  CREATE_PRISM_FOR: { required: ['fundAmount', 'salt'], optional: ['relayerFundAmount', 'permit'] },
  WRITE_DATA_FOR: { required: ['cloudId', 'dataId', 'payload'], optional: [] },
  MODIFY_DATA_FOR: { required: ['cloudId', 'dataId', 'payload'], optional: [] },
  DELETE_DATA_FOR: { required: ['cloudId', 'dataId'], optional: [] },
  TRANSFER_PRISM_FOR: { required: ['cloudId', 'newOwner'], optional: [] },
  ACCEPT_TRANSFER_FOR: { required: ['cloudId'], optional: [] },
  DELETE_PRISM_FOR: { required: ['cloudId'], optional: [] },
  BATCH_WRITE_DATA_FOR: { required: ['cloudId', 'dataIds', 'payloads'], optional: [] },
  BATCH_MODIFY_DATA_FOR: { required: ['cloudId', 'dataIds', 'payloads'], optional: [] },
  BATCH_DELETE_DATA_FOR: { required: ['cloudId', 'dataIds'], optional: [] },
  BATCH_MULTI_USER_WRITE_DATA: { required: ['requests'], optional: [] },
  CREATE_PRISM_WITH_DATA_FOR: {
    required: ['fundAmount', 'salt', 'dataIds', 'payloads'],
    optional: ['relayerFundAmount', 'permit'],
  },
};
const SHARED = ['relayerFee', 'timestamp', 'signer', 'v', 'r', 's'];

/** A really signed body of an action, for this run's chain. */
const exampleOf = (action: Action): Json & { params: Json } => ({
  ...EXAMPLE_REQUESTS[action],
  // An interface has no index signature; as JSON it is an object like any other.
  params: EXAMPLE_REQUESTS[action].params as unknown as Json,
  chainName: chainOf(target),
});

covers(
  ['create.actions', 'createRequest.201', 'record.fields', 'record.absent', 'record.signer', 'times'],
  'each of the twelve actions is taken, answered as a pending record, and read back as submitted',
  async () => {
    expect(Object.keys(OWN_PARAMS).sort()).toEqual([...ACTIONS].sort());
    for (const action of ACTIONS) {
      const body = exampleOf(action);
      const before = Date.now() + target.clockAheadMs;
      const answer = await post(body);
      const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
      const { requestId } = answer.body as { requestId: string };
      expect([answer.status, answer.body]).toEqual([
        201,
        { requestId, ...body, signer: body.params.signer, status: 'pending', createdAt: time, updatedAt: time },
      ]);
      const { createdAt, updatedAt } = answer.body as Record<string, string>;
      expect(updatedAt).toBe(createdAt);
      expect(Math.abs(Date.parse(createdAt ?? '') - before)).toBeLessThan(60_000);
      expect(await readRequest(target, requestId)).toEqual(answer.body);
    }
  },
);

covers(
  ['create.required', 'createRequest.400'],
  'a missing param is named, each of the action and the shared ones',
  async () => {
    for (const action of ACTIONS) {
      const { required } = OWN_PARAMS[action];
      const paths = faultPaths(await post({ ...exampleOf(action), params: {} }));
      expect([action, ...paths.sort()]).toEqual([
        action,
        ...[...required, ...SHARED].map((name) => `params.${name}`).sort(),
      ]);
    }
  },
);

covers(['create.required', 'json.unknownFields'], 'a param of another action is an unknown field', async () => {
  const all: Json = Object.assign({}, ...ACTIONS.map((action) => exampleOf(action).params));
  for (const action of ACTIONS) {
    const { required, optional } = OWN_PARAMS[action];
    const own = new Set([...required, ...optional, ...SHARED]);
    // The example's own values last, so that nothing but the foreign fields is wrong.
    const paths = faultPaths(await post({ ...exampleOf(action), params: { ...all, ...exampleOf(action).params } }));
    const foreign = Object.keys(all).filter((name) => !own.has(name));
    const unfunded = action === 'CREATE_PRISM_WITH_DATA_FOR' ? ['permit'] : [];
    expect([action, ...paths.sort()]).toEqual([
      action,
      ...[...foreign, ...unfunded].map((name) => `params.${name}`).sort(),
    ]);
  }
});

covers(
  ['format.relayerFundAmount', 'format.permit'],
  'optional params may be left out, and are not made up',
  async () => {
    for (const action of ['CREATE_PRISM_FOR', 'CREATE_PRISM_WITH_DATA_FOR'] as const) {
      const { permit: _, relayerFundAmount: __, ...params } = exampleOf(action).params;
      const record = await createRequest(target, { ...exampleOf(action), params: { ...params, fundAmount: '5' } });
      expect(record.params).toEqual({ ...params, fundAmount: '5' });
      const more = { ...params, fundAmount: '0', relayerFundAmount: '7' };
      expect((await createRequest(target, { ...exampleOf(action), params: more })).params).toEqual(more);
      const absent = await post({ ...exampleOf(action), params: { ...params, relayerFundAmount: null, permit: null } });
      expect(faultPaths(absent).sort()).toEqual(expect.arrayContaining(['params.permit', 'params.relayerFundAmount']));
    }
  },
);

covers(
  ['create.action', 'createRequest.400'],
  'any other action is 400, and the params are looked at all the same',
  async () => {
    for (const action of [
      '',
      'write_data_for',
      'WRITE_DATA',
      'WRITE_DATA_FOR ',
      'toString',
      null,
      7,
      ['WRITE_DATA_FOR'],
    ]) {
      expect(faultPaths(await post(writeBody(target, { action })))).toEqual(['action']);
    }
    const paths = faultPaths(await post({ chainName: chainOf(target), action: 'X', params: { signer: '0x' } }));
    expect(paths).toEqual(expect.arrayContaining(['action', 'params.signer', 'params.v']));
    for (const params of [null, [], 'x', 7])
      expect(faultPaths(await post({ ...writeBody(target), params }))).toEqual(['params']);
  },
);

covers(['create.selfAuthenticating'], 'a signature that nobody made is stored: the Forwarder checks it', async () => {
  const params = { v: 0, r: `0x${'0'.repeat(64)}`, s: `0x${'f'.repeat(64)}` };
  expect((await createRequest(target, writeBody(target, { params }))).status).toBe('pending');
});

covers(
  ['record.caseKept', 'record.signer'],
  'addresses and hex come back in the letter case in which they were sent',
  async () => {
    const mixed = (bytes: number) => `0x${'aB'.repeat(bytes)}`;
    const params = {
      signer: mixed(20),
      cloudId: mixed(32),
      dataId: '0xFf',
      payload: '0xDeadBEEF',
      r: mixed(32),
      s: mixed(32),
    };
    const record = await createRequest(target, writeBody(target, { params }));
    expect(record.params).toMatchObject(params);
    expect(record.signer).toBe(params.signer);
    expect(await readRequest(target, record.requestId)).toEqual(record);
  },
);

covers(
  ['requestId.v7', 'createRequest.201'],
  'ids are UUIDs of version 7, made in order; the same body twice is two requests',
  async () => {
    const body = writeBody(target, { params: { signer: randomHex(20) } });
    const records = [await createRequest(target, body), await createRequest(target, body)];
    const ids = records.map(({ requestId }) => requestId);
    for (const { requestId, createdAt } of records) {
      expect(requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const milliseconds = Number.parseInt(requestId.replace('-', '').slice(0, 12), 16);
      // Two looks at the clock; a machine under load takes its time between them.
      expect(Math.abs(milliseconds - Date.parse(createdAt))).toBeLessThan(60_000);
    }
    expect(new Set(ids).size).toBe(2);
  },
);
