import { createServer } from 'node:http';
import type { RequestRecord } from '@prism-gateway/protocol';
import {
  type FaultKind,
  type FaultProxy,
  listenOnLoopback,
  type ProxiedCall,
  startFaultProxy,
} from '@prism-gateway/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdminClient, createGatewayClient, createRelayerClient, type GatewayClient } from '../src/index.ts';
import { newAccount, QUICK_RETRY, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

let rig: SdkRig;
let proxy: FaultProxy;
/** Through the proxy. */
let gateway: GatewayClient;
/** Takes an answer that does not come soon for a lost one; beside a load it is soon wrong. */
let hasty: GatewayClient;

beforeAll(async () => {
  rig = await startSdkRig();
  proxy = await startFaultProxy({ upstream: rig.running.url });
  gateway = createGatewayClient({ url: proxy.url, retry: QUICK_RETRY });
  hasty = createGatewayClient({ url: proxy.url, retry: QUICK_RETRY, timeoutMs: 300 });
});
afterAll(async () => {
  await proxy?.close();
  await rig?.stop();
});

/** The client to meet a fault with: only if no answer ever comes it has to be a hasty one. */
const clientFor = (fault: FaultKind) => (fault.startsWith('stall') ? hasty : gateway);

const isPost = ({ method }: ProxiedCall) => method === 'POST';
const isPatch = ({ method }: ProxiedCall) => method === 'PATCH';

/** All requests of a signer, as they are stored. */
async function storedOf(signer: string): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  for await (const record of rig.gateway.listRequests({ signer })) records.push(record);
  return records;
}

/** A way to the gateway on which the first call's answer is lost; by the next one, which is reported, the gateway is gone. */
function answerNobody(onGone = () => {}): typeof fetch {
  let isGone = false;
  return async (input, init) => {
    if (isGone) {
      onGone();
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    }
    await fetch(input, init);
    isGone = true;
    throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
  };
}

/** Faults by which the answer is lost, and whether the call was executed. */
const lostAnswers = ['cutAfter', 'cutInAnswer', 'stallAfter', 'stallInAnswer', 'serverErrorAfter'] as const;
const lostCalls = ['cutBefore', 'stallBefore', 'serverError', 'unavailable'] as const;

describe('reading', () => {
  it.each([...lostAnswers, ...lostCalls])('survives %s', async (fault) => {
    const requestId = await rig.submitOne();
    proxy.planFaults([fault], ({ url }) => url.includes(requestId));
    expect((await clientFor(fault).getRequest(requestId)).requestId).toBe(requestId);
  });

  it('is given up after as many attempts as the policy has', async () => {
    const requestId = await rig.submitOne();
    const before = proxy.counts.unavailable;
    proxy.planFaults(
      Array.from({ length: 9 }, () => 'unavailable' as const),
      ({ url }) => url.includes(requestId),
    );
    await expect(gateway.getRequest(requestId)).rejects.toMatchObject({ kind: 'UNAVAILABLE', status: 503 });
    expect(proxy.counts.unavailable - before).toBe(QUICK_RETRY.attempts);
    proxy.planFaults([]);
  });

  it('waits on while the gateway cannot be reached', async () => {
    const requestId = await rig.submitOne();
    await rig.relayer.claim(requestId);
    await rig.relayer.reportSuccess(requestId, TX_HASH);
    proxy.planFaults(
      Array.from({ length: 9 }, () => 'cutBefore' as const),
      ({ url }) => url.includes(requestId),
    );
    expect((await gateway.waitForRequest(requestId, { pollIntervalMs: 1 })).status).toBe('success');
  });
});

describe('submitting', () => {
  it.each([...lostAnswers, ...lostCalls])('stores a request once, whatever %s does', async (fault) => {
    const user = rig.createUser({ gateway: clientFor(fault) });
    proxy.planFaults([fault], isPost);
    const { requestId, record } = await user.deletePrism({ cloudId: '0x01', relayerFee: 1n });
    const stored = await storedOf(await user.getAddress());
    expect(stored).toEqual([record]);
    expect(stored[0]?.requestId).toBe(requestId);
  });

  it('says that it may have happened, where that is not known in the end', async () => {
    const once = createGatewayClient({ url: proxy.url, retry: { attempts: 1 } });
    proxy.planFaults(['cutAfter'], isPost);
    const user = rig.createUser({ gateway: once });
    await expect(user.deletePrism({ cloudId: '0x01', relayerFee: 1n })).rejects.toMatchObject({
      code: 'NETWORK_FAILED',
      mayHaveHappened: true,
    });
    expect(await storedOf(await user.getAddress())).toHaveLength(1);
  });

  it('can be aborted under way, and says so', async () => {
    const stop = new AbortController();
    const slow = createGatewayClient({
      url: proxy.url,
      fetch: (input, init) => {
        const answer = fetch(input, init);
        if (init?.method === 'POST') stop.abort();
        return answer;
      },
    });
    const user = rig.createUser({ gateway: slow });
    const wish = { cloudId: '0x01', relayerFee: 1n };
    await expect(user.deletePrism(wish, { signal: stop.signal })).rejects.toMatchObject({
      code: 'ABORTED',
      mayHaveHappened: true,
    });
  });
});

describe('claiming', () => {
  const relayerOf = (client: GatewayClient) => createRelayerClient({ gateway: client, account: rig.relayerAccount });

  it.each([...lostAnswers, ...lostCalls])('is won through %s', async (fault) => {
    const requestId = await rig.submitOne();
    proxy.planFaults([fault], isPatch);
    const record = await relayerOf(clientFor(fault)).claim(requestId);
    expect(record).toMatchObject({ status: 'processing', claimedBy: rig.relayerAccount.address });
  });

  it('is asked for once where the answer was lost: the request is read back', async () => {
    const requestId = await rig.submitOne();
    const sent: string[] = [];
    const counting: typeof fetch = (input, init) => {
      sent.push(init?.method ?? '');
      return fetch(input, init);
    };
    const client = createGatewayClient({ url: proxy.url, retry: QUICK_RETRY, fetch: counting });
    proxy.planFaults(['cutAfter'], isPatch);
    await relayerOf(client).claim(requestId);
    proxy.planFaults(['cutAfter'], isPatch);
    await relayerOf(client).reportSuccess(requestId, TX_HASH);
    expect(sent).toEqual(['PATCH', 'GET', 'PATCH', 'GET']);
  });

  it('may have been won where the gateway is gone before it can be read back', async () => {
    const requestId = await rig.submitOne();
    const client = createGatewayClient({ url: rig.running.url, retry: QUICK_RETRY, fetch: answerNobody() });
    await expect(relayerOf(client).claim(requestId)).rejects.toMatchObject({ mayHaveHappened: true });
  });

  it('is lost where a rival came in between', async () => {
    const requestId = await rig.submitOne();
    const rival = await rig.addRelayer();
    const claim = createRelayerClient({
      account: rig.relayerAccount,
      url: proxy.url,
      retry: QUICK_RETRY,
      fetch: async (input, init) => {
        if (init?.method === 'PATCH') await rival.claim(requestId).catch(() => undefined);
        return await fetch(input, init);
      },
    }).claim(requestId);
    proxy.planFaults(['cutBefore'], isPatch);
    await expect(claim).rejects.toMatchObject({ kind: 'CONFLICT' });
    expect((await rival.get(requestId)).claimedBy).toBe(rival.address);
  });

  it.each([...lostAnswers, ...lostCalls])('is followed by a report that is made once, through %s', async (fault) => {
    const requestId = await rig.submitOne();
    const relayer = relayerOf(clientFor(fault));
    await relayer.claim(requestId);
    proxy.planFaults([fault], isPatch);
    expect(await relayer.reportSuccess(requestId, TX_HASH)).toMatchObject({ status: 'success', txHash: TX_HASH });
  });
});

describe('the whitelist', () => {
  it.each([...lostAnswers, ...lostCalls])('is changed through %s', async (fault) => {
    const admin = createAdminClient({ gateway: clientFor(fault), adminKey: rig.running.adminKey });
    const { address } = newAccount();
    proxy.planFaults([fault], isPost);
    await admin.addRelayer({ address });
    proxy.planFaults([fault], ({ method }) => method === 'DELETE');
    expect((await admin.removeRelayer(address)).address).toBe(address);
  });
});

describe('being told to come later', () => {
  const body = { chainName: 'eip155:1', action: 'DELETE_PRISM_FOR', params: { signer: '0x' } } as const;
  const stored = { ...body, requestId: 'one', status: 'pending', createdAt: '2026-01-01T00:00:00.000Z' };

  /** A server that refuses some calls, and remembers when each came. */
  async function startRefusing(refusals: number, headers: Readonly<Record<string, string>>, status = 429) {
    const cameAt: number[] = [];
    const server = createServer((_, response) => {
      cameAt.push(performance.now());
      if (cameAt.length <= refusals) response.writeHead(status, headers).end('{"error":"Too many."}');
      else response.end(JSON.stringify(stored));
    });
    return { cameAt, ...(await listenOnLoopback(server)) };
  }

  it('waits as long as Retry-After says', async () => {
    const server = await startRefusing(1, { 'retry-after': '1' });
    try {
      await createGatewayClient({ url: server.url, retry: QUICK_RETRY }).getRequest('one');
      const [first = 0, second = 0] = server.cameAt;
      // Timers may fire within the millisecond before.
      expect(second - first).toBeGreaterThanOrEqual(999);
    } finally {
      await server.close();
    }
  });

  it('repeats a write that was refused for being one too many', async () => {
    const server = await startRefusing(2, { 'retry-after': '0' });
    try {
      // No more of it is looked at here.
      await createGatewayClient({ url: server.url, retry: QUICK_RETRY }).submitRequest(body as never);
      expect(server.cameAt).toHaveLength(3);
    } finally {
      await server.close();
    }
  });

  it('leaves a long wait to its caller', async () => {
    const server = await startRefusing(1, { 'retry-after': '3600' });
    try {
      const read = createGatewayClient({ url: server.url, retry: QUICK_RETRY }).getRequest('one');
      await expect(read).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 3_600_000 });
      expect(server.cameAt).toHaveLength(1);
    } finally {
      await server.close();
    }
  });

  it('does not ask for an awaited request before Retry-After, however long it is', async () => {
    const server = await startRefusing(9, { 'retry-after': '3600' });
    try {
      const wait = createGatewayClient({ url: server.url }).waitForRequest('one', {
        timeoutMs: 1000,
        pollIntervalMs: 1,
      });
      await expect(wait).rejects.toMatchObject({ code: 'WAIT_TIMED_OUT' });
      expect(server.cameAt).toHaveLength(1);
    } finally {
      await server.close();
    }
  });

  it('can be aborted while it waits', async () => {
    const server = await startRefusing(9, { 'retry-after': '5' });
    try {
      const stop = new AbortController();
      const { signal } = stop;
      const read = createGatewayClient({ url: server.url, retry: QUICK_RETRY }).getRequest('one', { signal });
      await expect.poll(() => server.cameAt).toHaveLength(1);
      stop.abort();
      await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
      expect(server.cameAt).toHaveLength(1);
    } finally {
      await server.close();
    }
  });

  it('does not follow a redirect, which would carry a key elsewhere', async () => {
    const other = await startRefusing(0, {});
    const server = await startRefusing(9, { location: other.url }, 307);
    try {
      const admin = createAdminClient({ url: server.url, adminKey: 'secret', retry: { attempts: 1 } });
      await expect(admin.listRelayers()).rejects.toMatchObject({ code: 'NETWORK_FAILED' });
      expect(other.cameAt).toEqual([]);
    } finally {
      await server.close();
      await other.close();
    }
  });
});
