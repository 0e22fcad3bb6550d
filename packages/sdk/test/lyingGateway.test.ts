import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { RequestRecord } from '@prism-gateway/protocol';
import { type LoopbackServer, listenOnLoopback, misbehave } from '@prism-gateway/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayClient, createRelayerClient, type GatewayClient } from '../src/index.ts';
import { newAccount, QUICK_RETRY, TX_HASH } from './rig.ts';

const ID = '01981c2a-0000-7000-8000-000000000001';
const OTHER_ID = '01981c2a-0000-7000-8000-000000000002';
const account = newAccount();
const signed = { v: 27, r: TX_HASH, s: TX_HASH, relayerFee: '1', timestamp: '1', signer: account.address };
const BODY = { chainName: 'c', action: 'DELETE_PRISM_FOR', params: { ...signed, cloudId: '0x01' } } as const;

/** A record as an honest gateway has it, but for what is given. */
const recordOf = (lie: object = {}) => ({
  ...BODY,
  requestId: ID,
  signer: account.address,
  status: 'pending',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...lie,
});
const claimed = { status: 'processing', claimedBy: account.address, claimedAt: '2026-01-01T00:00:00.000Z' };

let server: LoopbackServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that says whatever it likes. */
async function lie(handler: Handler, fetch = globalThis.fetch): Promise<GatewayClient> {
  server = await listenOnLoopback(createServer(handler));
  return createGatewayClient({ url: server.url, retry: QUICK_RETRY, fetch });
}
const say = (body: unknown) =>
  lie((request, response) => {
    request.resume();
    misbehave(response, { status: 200, body });
  });
const unexpected = expect.objectContaining({ code: 'UNEXPECTED_ANSWER' });

describe('a gateway that lies about a request', () => {
  it.each([
    ['another one', { requestId: OTHER_ID, status: 'success', txHash: TX_HASH }],
    ['success without a transaction', { status: 'success' }],
    ['a status that there is not', { status: 'done' }],
    ['params that are none', { params: null }],
    ['a holder that is no text', { claimedBy: 7 }],
  ])('is not believed: %s', async (_, fields) => {
    const gateway = await say(recordOf(fields));
    await expect(gateway.getRequest(ID)).rejects.toEqual(unexpected);
    await expect(gateway.waitForRequest(ID)).rejects.toEqual(unexpected);
  });

  it('is not believed that it has stored what nobody has sent', async () => {
    const gateway = await say(recordOf({ params: { ...BODY.params, cloudId: '0x02' } }));
    await expect(gateway.submitRequest(BODY)).rejects.toEqual(unexpected);
  });

  it.each([
    ['pending still', {}],
    ["another's", { ...claimed, claimedBy: newAccount().address }],
    ['another one', { ...claimed, requestId: OTHER_ID }],
  ])('is not believed that a claim is won: %s', async (_, fields) => {
    const gateway = await say(recordOf(fields));
    const relayer = createRelayerClient({ gateway, account });
    await expect(relayer.claim(ID)).rejects.toEqual(unexpected);
    await expect(relayer.reportSuccess(ID, TX_HASH)).rejects.toEqual(unexpected);
    const batch = createRelayerClient({ gateway: await say({ items: [recordOf(fields)], conflicts: [] }), account });
    await expect(batch.claimRequests({ requestIds: [ID] })).rejects.toEqual(unexpected);
    await expect(batch.reportRequests([{ requestId: ID, status: 'success', txHash: TX_HASH }])).rejects.toEqual(
      unexpected,
    );
  });

  it('is reported by name, whatever its conflicts are', async () => {
    const relayer = createRelayerClient({ gateway: await say({ items: [], conflicts: [null] }), account });
    await expect(relayer.claimRequests({ requestIds: [ID] })).rejects.toEqual(unexpected);
    await expect(relayer.reportRequests([{ requestId: ID, status: 'success', txHash: TX_HASH }])).rejects.toEqual(
      unexpected,
    );
  });
});

describe('a gateway that never comes to an end', () => {
  it('goes round in circles in a list', async () => {
    let calls = 0;
    const gateway = await lie((_, response) => {
      calls++;
      misbehave(response, { status: 200, body: { items: [recordOf()], count: 1, lastKey: calls % 2 ? 'a' : 'b' } });
    });
    const seen: RequestRecord[] = [];
    const walk = async () => {
      for await (const record of gateway.listRequests({ signer: account.address })) seen.push(record);
    };
    await expect(walk()).rejects.toEqual(unexpected);
    expect(seen).toHaveLength(3);
  });

  it('gives a cursor that is no text', async () => {
    const gateway = await say({ items: [], count: 0, lastKey: { $ne: 1 } });
    await expect(gateway.listRequests({ signer: account.address }).page()).rejects.toEqual(unexpected);
  });

  it('pours out an answer', async () => {
    const gateway = await lie((_, response) => misbehave(response, 'endless'));
    await expect(gateway.getRequest(ID)).rejects.toEqual(unexpected);
  });

  it('has a request jump to and fro: it is not asked faster than agreed', async () => {
    let calls = 0;
    const gateway = await lie((_, response) => {
      misbehave(response, { status: 200, body: recordOf(calls++ % 2 ? claimed : {}) });
    });
    const wait = gateway.waitForRequest(ID, { timeoutMs: 700, pollIntervalMs: 250 });
    await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' });
    expect(calls).toBeLessThanOrEqual(6);
  });

  it('gives the same page of the feed again and again: it is not asked without a pause', async () => {
    const body = { items: [recordOf()], count: 1, cursor: 'same' };
    const relayer = createRelayerClient({ gateway: await say(body), account });
    const feed = relayer.followFeed({ chainName: 'c', cursor: 'same' });
    const startedAtMs = performance.now();
    await feed.next();
    await feed.next();
    // Timers may be early by a millisecond.
    expect(performance.now() - startedAtMs).toBeGreaterThan(990);
    await feed.return(undefined as never);
  });

  it('lets no call wait, and says when to ask again: it is asked then, and ever more seldom', async () => {
    const askedAtMs: number[] = [];
    const gateway = await lie(
      (_, response) => misbehave(response, { status: 200, headers: { 'retry-after': '1' }, body: recordOf() }),
      (...call) => {
        askedAtMs.push(performance.now());
        return fetch(...call);
      },
    );
    const wait = gateway.waitForRequest(ID, { timeoutMs: 3500, pollIntervalMs: 10 });
    await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' });
    // At once, and again since the first look could not wait; then after 1, 1.25 and 1.56 s.
    const pauses = askedAtMs.slice(1).map((at, i) => at - (askedAtMs[i] ?? 0));
    expect(pauses).toHaveLength(3);
    expect(pauses[1]).toBeGreaterThan(950);
    expect(pauses[2]).toBeGreaterThan(1200);
  });

  it.each(['4000000', new Date(Date.now() + 4e9).toUTCString()])(
    'asks to be left alone for months: a wait does not turn into a storm',
    async (retryAfter) => {
      let calls = 0;
      const gateway = await lie((_, response) => {
        calls++;
        misbehave(response, { status: 503, headers: { 'retry-after': retryAfter } });
      });
      const wait = gateway.waitForRequest(ID, { timeoutMs: 300 });
      await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' });
      expect(calls).toBe(1);
    },
  );
});
