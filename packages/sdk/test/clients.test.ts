import { createServer } from 'node:http';
import { listenOnLoopback } from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdminClient, createGatewayClient, createRelayerClient, GatewayError } from '../src/index.ts';
import { newAccount, QUICK_RETRY, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(async () => {
  await rig?.stop();
});

/** Takes the error that a call fails with. */
async function failureOf(call: Promise<unknown>): Promise<GatewayError> {
  const failure: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof GatewayError) return failure;
  throw new Error('the call did not fail as calls do', { cause: failure });
}

describe('the gateway client', () => {
  it('names what is wrong with a body, by its place in it', async () => {
    const params = { relayerFee: 'much', timestamp: '1', signer: '0x', v: 27, r: TX_HASH, s: TX_HASH, cloudId: '0x01' };
    const error = await failureOf(
      rig.gateway.submitRequest({ chainName: 'eip155:1', action: 'DELETE_PRISM_FOR', params }),
    );
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', status: 400, mayHaveHappened: false });
    expect(error.details.map(({ path }) => path)).toEqual(['params.relayerFee', 'params.signer']);
    expect(error.requestId).toMatch(/./);
    expect(error.message).toContain('POST /requests');
  });

  it('tells an unknown request, a foreign server and no server apart', async () => {
    const unknown = '0197c2a4-5b1e-7c3d-8f60-0242ac120002';
    expect(await failureOf(rig.gateway.getRequest(unknown))).toMatchObject({ kind: 'NOT_FOUND', status: 404 });
    const foreign = createGatewayClient({ url: `${rig.running.url}/docs?`, retry: QUICK_RETRY });
    expect(await failureOf(foreign.getRequest(unknown))).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    // A proxy's page, while the gateway behind it is replaced, says nothing of a request.
    const proxy = await listenOnLoopback(
      createServer(
        (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found'),
      ),
    );
    const behind = createGatewayClient({ url: proxy.url, retry: QUICK_RETRY });
    expect(await failureOf(behind.getRequest(unknown))).toMatchObject({ kind: 'UNAVAILABLE', status: 404 });
    await proxy.close();
    const gone = await listenOnLoopback(createServer());
    await gone.close();
    // Nobody listens: nothing was sent, so nothing can have happened.
    const nobody = createGatewayClient({ url: gone.url, retry: QUICK_RETRY });
    expect(await failureOf(nobody.getRequest(unknown))).toMatchObject({
      code: 'NETWORK_FAILED',
      mayHaveHappened: false,
    });
  });

  it('walks a list record by record and page by page', async () => {
    const user = rig.createUser();
    const signer = await user.getAddress();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await user.deletePrism({ cloudId: '0x01', relayerFee: 1n })).requestId);
    const list = rig.gateway.listRequests({ signer, limit: 2 });
    const walked: string[] = [];
    for await (const { requestId } of list) walked.push(requestId);
    expect(walked).toEqual(ids);
    const sizes: number[] = [];
    for await (const page of list.pages()) sizes.push(page.count);
    expect(sizes).toEqual([2, 2, 1]);
    const first = await list.page();
    expect((await list.page(first.lastKey)).items.map(({ requestId }) => requestId)).toEqual(ids.slice(2, 4));
    const newest = await rig.gateway.listRequests({ signer, limit: 1, order: 'desc' }).page();
    expect(newest.items[0]?.requestId).toBe(ids[4]);
  });

  it('finds a request by its content, and none that was not stored', async () => {
    const { record } = await rig.createUser().acceptTransfer({ cloudId: '0x01', relayerFee: 1n });
    const { chainName, action, params } = record;
    expect((await rig.gateway.findRequest({ chainName, action, params }))?.requestId).toBe(record.requestId);
    const other = { ...params, relayerFee: '2' };
    expect(await rig.gateway.findRequest({ chainName, action, params: other })).toBeUndefined();
  });

  it('ends a wait when told to, or when its time is over', async () => {
    const requestId = await rig.submitOne();
    const late = await failureOf(rig.gateway.waitForRequest(requestId, { timeoutMs: 2000, pollIntervalMs: 5 }));
    expect(late.code).toBe('WAIT_TIMED_OUT');
    expect(late.message).toMatch(/ it goes on\. Does its fee pay\? See quoteFee\.$/);
    const timestamp = BigInt(Math.floor(Date.now() / 1000) + 7200);
    const early = await rig.createUser().acceptTransfer({ cloudId: '0x01', relayerFee: 1n, timestamp });
    const tooEarly = rig.gateway.waitForRequest(early.record.requestId, { timeoutMs: 2000 });
    expect((await failureOf(tooEarly)).message).toMatch(/ signed by a clock that is 7\d\d\d s ahead\?$/);
    const stop = new AbortController();
    const wait = rig.gateway.waitForRequest(requestId, {
      signal: stop.signal,
      pollIntervalMs: 60_000,
      onStatus: () => stop.abort(new Error('enough')),
    });
    expect(await failureOf(wait)).toMatchObject({ code: 'ABORTED', cause: new Error('enough') });
    expect((await failureOf(rig.gateway.getRequest(requestId, { signal: stop.signal }))).code).toBe('ABORTED');
  });

  it('waits for several with progress, in the order asked', async () => {
    const ids = [await rig.submitOne(), await rig.submitOne()];
    const progress: string[] = [];
    const wait = rig.gateway.waitForRequests(ids, {
      pollIntervalMs: 5,
      onProgress: ({ ended, total }) => progress.push(`${ended}/${total}`),
    });
    for (const id of ids.toReversed()) {
      await rig.relayer.claim(id);
      await rig.relayer.reportSuccess(id, TX_HASH);
    }
    expect((await wait).map(({ requestId }) => requestId)).toEqual(ids);
    expect(progress.at(-1)).toBe('2/2');
  });
});

describe('the relayer client', () => {
  it('loses a claim to whoever was first, itself included', async () => {
    const requestId = await rig.submitOne();
    const rival = await rig.addRelayer();
    await rival.claim(requestId);
    expect(await failureOf(rig.relayer.claim(requestId))).toMatchObject({ kind: 'CONFLICT', status: 409 });
    expect((await failureOf(rival.claim(requestId))).kind).toBe('CONFLICT');
    expect((await failureOf(rig.relayer.reportSuccess(requestId, TX_HASH))).kind).toBe('CONFLICT');
  });

  it('may say the same again, and nothing else', async () => {
    const requestId = await rig.submitOne();
    await rig.relayer.claim(requestId);
    const reported = await rig.relayer.reportSuccess(requestId, TX_HASH);
    expect(await rig.relayer.reportSuccess(requestId, TX_HASH.toUpperCase().replace('X', 'x'))).toEqual(reported);
    expect((await failureOf(rig.relayer.reportSuccess(requestId, `0x${'cd'.repeat(32)}`))).kind).toBe('CONFLICT');
    expect((await failureOf(rig.relayer.reportFailure(requestId, 'no'))).kind).toBe('CONFLICT');
    const failed = await rig.submitOne();
    await rig.relayer.claim(failed);
    await rig.relayer.reportFailure(failed, 'reverted');
    expect((await rig.relayer.reportFailure(failed, 'reverted')).errorMessage).toBe('reverted');
  });

  it('is refused off the whitelist, and with a clock that is wrong', async () => {
    const stranger = createRelayerClient({ gateway: rig.gateway, account: newAccount() });
    expect(await failureOf(stranger.list({ status: 'pending' }).page())).toMatchObject({
      kind: 'UNAUTHORISED',
      status: 401,
    });
    const { url } = rig.running;
    const late = createRelayerClient({ url, account: rig.relayerAccount, now: () => Date.now() - 600_000 });
    expect((await failureOf(late.list({ status: 'pending' }).page())).message).toMatch(/imestamp/);
  });
});

describe('the admin client', () => {
  it('says nothing of its key when it is wrong', async () => {
    const admin = createAdminClient({ gateway: rig.gateway, adminKey: 'a-wrong-key' });
    const error = await failureOf(admin.listRelayers());
    expect(error).toMatchObject({ kind: 'UNAUTHORISED', status: 401 });
    expect(JSON.stringify({ ...error, message: error.message })).not.toContain('a-wrong-key');
  });
});
