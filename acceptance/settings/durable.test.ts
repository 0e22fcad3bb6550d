import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { makeObject, signOperation, useSigned } from '../rig/objects.ts';
import { randomHex } from '../rig/randomHex.ts';
import { claim, createRequest, readPage, readRequest, updateRequest, writeBody } from '../rig/requests.ts';
import { makeDataDir, startOwn } from '../rig/startOwn.ts';
import { relayerAt } from '../rig/target.ts';
import { tokenOf } from '../rig/tokens.ts';

covers(
  ['durable'],
  'what was answered is there after a kill: requests, claims, reports, whitelist, cursors, objects',
  async (context) => {
    const dataDir = await makeDataDir();
    // One address for both, or a presigned URL and a token would be for another service.
    const { gateway, target } = await startOwn({ dataDir, relayerCount: 2 });
    const signer = randomHex(20);
    const body = writeBody(target, { params: { signer } });
    const records = await Promise.all(Array.from({ length: 30 }, () => createRequest(target, body)));
    const ids = records.map(({ requestId }) => requestId);
    const [claimed, reported] = [ids[0] as string, ids[1] as string];
    await claim(target, claimed, relayerAt(target, 0));
    await claim(target, reported, relayerAt(target, 1));
    const success = { status: 'success', txHash: randomHex(32) };
    await updateRequest(target, { requestId: reported, json: success, relayer: relayerAt(target, 1) });
    const expected = await Promise.all(ids.map((id) => readRequest(target, id)));
    const { lastKey } = readPage(await callApi(target, { path: '/requests', query: { signer, limit: '10' } }));
    const object = makeObject();
    const token = await tokenOf(target, context);
    const put = await signOperation(target, { token, operation: 'put', object });
    expect((await useSigned(put, { body: object.content })).status).toBe(200);

    const { port } = new URL(gateway.url);
    await gateway.kill();
    const { target: again } = await startOwn({ dataDir, env: { PORT: port } });

    expect(await Promise.all(ids.map((id) => readRequest(again, id)))).toEqual(expected);
    const rest = readPage(
      await callApi(again, { path: '/requests', query: { signer, limit: '100', lastKey: lastKey ?? '' } }),
    );
    expect(rest.count).toBe(20);
    const takeAgain = { method: 'PATCH', path: `/requests/${claimed}`, json: { status: 'processing' } };
    expect((await callAsRelayer(again, { ...takeAgain, relayer: relayerAt(target, 1) })).status).toBe(409);
    const report = { ...takeAgain, json: { status: 'failed', errorMessage: 'x' } };
    expect((await callAsRelayer(again, { ...report, relayer: relayerAt(target, 0) })).status).toBe(200);
    const get = await useSigned(await signOperation(again, { token, operation: 'get', object }));
    expect(Buffer.from(get.bytes)).toEqual(Buffer.from(object.content));
  },
);

covers(['durable'], 'SIGTERM ends it with exit code 0', async () => {
  const { gateway, target } = await startOwn({});
  await createRequest(target);
  expect(await gateway.stop()).toBe(0);
});
