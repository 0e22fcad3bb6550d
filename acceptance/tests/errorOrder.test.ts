import { expect, type TestContext } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { sign } from '../rig/objects.ts';
import { claim, createRequest } from '../rig/requests.ts';
import { readTarget, relayerAt } from '../rig/target.ts';
import { tokenOf } from '../rig/tokens.ts';

const target = readTarget();
const relayer = relayerAt(target, 0);
const id = () => crypto.randomUUID();

const WITH_BODY = [
  ['POST', '/requests'],
  ['PATCH', `/requests/${id()}`],
  ['POST', '/admin/relayers'],
  ['POST', '/storage/sign'],
] as const;

covers(['order.sizeBeforeType'], '413 wins over 415', async () => {
  const body = ' '.repeat(target.maxBodyBytes + 1);
  for (const [method, path] of WITH_BODY) {
    const answer = await callApi(target, { method, path, body, contentType: 'text/plain' });
    expect([path, answer.status]).toEqual([path, 413]);
  }
});

covers(['order.typeBeforeAuth'], '415 wins over 401', async () => {
  for (const [method, path] of WITH_BODY.slice(1)) {
    const answer = await callApi(target, { method, path, body: 'x', contentType: 'text/plain' });
    expect([path, answer.status]).toEqual([path, 415]);
  }
});

covers(
  [
    'order.authBeforeValidation',
    'updateRequest.401',
    'listRequests.401',
    'addRelayer.401',
    'removeRelayer.401',
    'signStorage.401',
  ],
  '401 wins over 400',
  async () => {
    const calls = [
      { method: 'PATCH', path: '/requests/7', body: '{' },
      { path: '/requests', query: 'status=nothing&limit=0&lastKey=' },
      { path: '/requests', query: 'chainName=' },
      { path: '/requests', query: 'signer=x&status=' },
      { method: 'POST', path: '/admin/relayers', body: '{' },
      { method: 'DELETE', path: '/admin/relayers/7' },
      { method: 'POST', path: '/storage/sign', body: '{' },
    ] as const;
    for (const call of calls) expect([call, (await callApi(target, call)).status]).toEqual([call, 401]);
  },
);

covers(
  ['order.authBeforeValidation', 'signStorage.400'],
  'with a good token, the same body is 400',
  async (context: TestContext) => {
    const answer = await sign(target, { token: await tokenOf(target, context), json: {} });
    expect(answer.status).toBe(400);
  },
);

covers(['order.validationBeforeExistence', 'updateRequest.404', 'updateRequest.400'], '400 wins over 404', async () => {
  const patch = (path: string, json: unknown) => callAsRelayer(target, { method: 'PATCH', path, json, relayer });
  expect((await patch(`/requests/${id()}`, { status: 'done' })).status).toBe(400);
  expect((await patch(`/requests/${id()}`, { status: 'success' })).status).toBe(400);
  expect((await patch(`/requests/${id()}`, { status: 'processing' })).status).toBe(404);
});

covers(
  ['order.existenceBeforeState', 'updateRequest.404'],
  'an unknown request is 404, whatever move is asked',
  async () => {
    const moves = [
      { status: 'processing' },
      { status: 'success', txHash: `0x${'ab'.repeat(32)}` },
      { status: 'failed', errorMessage: 'x' },
    ];
    for (const json of moves) {
      const answer = await callAsRelayer(target, { method: 'PATCH', path: `/requests/${id()}`, json, relayer });
      expect([json, answer.status]).toEqual([json, 404]);
    }
  },
);

covers(['order.validationBeforeState'], '400 wins over 409', async () => {
  const { requestId } = await createRequest(target);
  await claim(target, requestId, relayer);
  const patch = (json: unknown) =>
    callAsRelayer(target, { method: 'PATCH', path: `/requests/${requestId}`, json, relayer });
  expect((await patch({ status: 'processing', txHash: `0x${'ab'.repeat(32)}` })).status).toBe(400);
  expect((await patch({ status: 'pending' })).status).toBe(400);
  expect((await patch({ status: 'processing' })).status).toBe(409);
});
