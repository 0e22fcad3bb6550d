import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { errorOf } from '../rig/faults.ts';
import { randomHex } from '../rig/randomHex.ts';
import { createRequest, readRequest } from '../rig/requests.ts';
import { sendRaw } from '../rig/sendRaw.ts';
import { signHeaders, timestampNow } from '../rig/signHeaders.ts';
import { readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const relayer = relayerAt(target, 11);
const encode = (text: string) => new TextEncoder().encode(text);
const CLAIM = '{"status":"processing"}';

async function prepare() {
  const { requestId } = await createRequest(target);
  const path = `/requests/${requestId}`;
  const signed = { method: 'PATCH', path, body: encode(CLAIM), timestamp: timestampNow(target) };
  return { requestId, path, headers: await signHeaders(relayer, signed) };
}

covers(
  ['updateRequest.401', 'relayerAuth.replay'],
  'a signed call that is altered on its way is 401, and nothing is changed',
  async () => {
    const { requestId, path, headers } = await prepare();
    const other = await createRequest(target);
    const altered = [
      { method: 'PATCH', path, body: '{"status":"processing" }' },
      { method: 'PATCH', path, body: `{"status":"success","txHash":"${randomHex(32)}"}` },
      { method: 'PATCH', path, body: '' },
      { method: 'PATCH', path: `/requests/${other.requestId}`, body: CLAIM },
      { method: 'PATCH', path: path.toUpperCase().replace('REQUESTS', 'requests'), body: CLAIM },
      { method: 'GET', path: '/requests', query: 'status=pending' },
    ];
    for (const call of altered) {
      const answer = await callApi(target, { ...call, headers });
      expect([call, answer.status]).toEqual([call, 401]);
      expect(errorOf(answer)).toContain('signature check');
    }
    expect((await readRequest(target, requestId)).status).toBe('pending');
    expect((await callApi(target, { method: 'PATCH', path, body: CLAIM, headers })).status).toBe(200);
  },
);

covers(['relayerAuth.replay', 'claim.again'], 'the same signed claim sent again claims nothing anew', async () => {
  const { path, headers } = await prepare();
  const call = { method: 'PATCH', path, body: CLAIM, headers };
  expect((await callApi(target, call)).status).toBe(200);
  expect((await callApi(target, call)).status).toBe(409);
});

covers(
  ['relayerAuth.order', 'updateRequest.401', 'listRequests.401'],
  'each missing header is 401 and says at which check',
  async () => {
    const { path, headers } = await prepare();
    const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
    const expected = {
      'x-relayer-timestamp': 'timestamp check',
      'x-relayer-signature': 'signature check',
      'x-relayer-address': 'signature check',
    };
    for (const [name, check] of Object.entries(expected)) {
      const answer = await callApi(target, { method: 'PATCH', path, body: CLAIM, headers: without(name) });
      expect([name, answer.status, errorOf(answer).includes(check)]).toEqual([name, 401, true]);
    }
    for (const call of [
      { path: '/requests', query: 'status=pending' },
      { path: '/requests', query: 'chainName=x' },
    ]) {
      const answer = await callApi(target, call);
      expect([answer.status, errorOf(answer).includes('timestamp check')]).toEqual([401, true]);
    }
  },
);

covers(
  ['relayerAuth.window'],
  'the timestamp may be some minutes off, to either side, and no more than five',
  async () => {
    const query = { signer: randomHex(20), status: 'pending' };
    for (const [offsetMs, status] of [
      [-280_000, 200],
      [280_000, 200],
      [-320_000, 401],
      [320_000, 401],
    ] as const) {
      const timestamp = String(Number(timestampNow(target)) + offsetMs);
      const headers = await signHeaders(relayer, { method: 'GET', path: '/requests', body: encode(''), timestamp });
      const answer = await callApi(target, { path: '/requests', query, headers });
      expect([offsetMs, answer.status]).toEqual([offsetMs, status]);
    }
  },
);

covers(['relayerAuth.path', 'relayerAuth.body'], 'the query is no part of what is signed', async () => {
  const signed = { method: 'GET', path: '/requests', body: encode(''), timestamp: timestampNow(target) };
  const headers = await signHeaders(relayer, signed);
  for (const query of ['status=pending', 'status=failed&limit=1', 'chainName=eip155%3A1&order=desc']) {
    expect([query, (await callApi(target, { path: '/requests', query, headers })).status]).toEqual([query, 200]);
  }
});

covers(['relayerAuth.body'], 'the raw bytes of the body are signed, as they are sent', async () => {
  const { requestId } = await createRequest(target);
  const body = ' {\r\n\t"status" : "\\u0070rocessing"\n} ';
  const answer = await callAsRelayer(target, { method: 'PATCH', path: `/requests/${requestId}`, body, relayer });
  expect(answer.status, answer.text).toBe(200);
});

covers(['relayerAuth.order', 'header.twice'], 'a header sent twice is not taken for one of the two', async () => {
  const { path, headers } = await prepare();
  for (const name of Object.keys(headers)) {
    const twice = { ...headers, [name]: [headers[name] ?? '', headers[name] ?? ''] };
    const answer = await sendRaw(target, { method: 'PATCH', path, body: encode(CLAIM), headers: twice });
    expect([name, answer.status]).toEqual([name, 401]);
  }
});

covers(
  ['order.authBeforeValidation', 'relayerAuth.whitelist'],
  'an admin key is no relayer signature, and the other way round',
  async () => {
    const { path, headers } = await prepare();
    const admin = { 'x-admin-key': target.adminKey };
    expect((await callApi(target, { method: 'PATCH', path, body: CLAIM, headers: admin })).status).toBe(401);
    expect((await callApi(target, { path: '/admin/relayers', headers })).status).toBe(401);
  },
);

covers(['method.head'], 'a HEAD is answered like its GET, and signed as HEAD', async () => {
  const list = { path: '/requests', query: { status: 'pending' } };
  const relayer = relayerAt(target, 0);
  const head = await callAsRelayer(target, { ...list, method: 'HEAD', relayer, isPlain: true });
  expect([head.status, head.text]).toEqual([200, '']);
  const asGet = await signHeaders(relayer, {
    method: 'GET',
    path: '/requests',
    body: new Uint8Array(),
    timestamp: timestampNow(target),
  });
  expect((await callApi(target, { ...list, method: 'HEAD', headers: asGet, isPlain: true })).status).toBe(401);
});
