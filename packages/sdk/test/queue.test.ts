import type { RequestRecord } from '@prism-gateway/protocol';
import { type LoopbackServer, startFetchServer } from '@prism-gateway/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayClient, createRelayerClient, type FeedPage, type SignedBody } from '../src/index.ts';
import { CHAIN_NAME, newAccount, QUICK_RETRY, TX_HASH } from './rig.ts';

// The calls beyond the specification, against small servers that speak this wire and fail in the ways that a gateway cannot be asked to.

const account = newAccount();
const servers: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A call as it came. */
interface Seen {
  readonly call: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Starts a server, and makes clients of it. */
async function serve(answer: (seen: Seen, count: number) => unknown) {
  const calls: Seen[] = [];
  const { url, close } = await startFetchServer(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const seen = { call: `${request.method} ${pathname}`, query: Object.fromEntries(searchParams), body };
    const given = await answer(seen, calls.push(seen));
    return given instanceof Response ? given : Response.json(given);
  });
  servers.push({ url, close });
  const gateway = createGatewayClient({ url, retry: QUICK_RETRY });
  return { calls, gateway, relayer: createRelayerClient({ gateway, account }) };
}

function recordOf(requestId: string, fields: Partial<RequestRecord> = {}): RequestRecord {
  const at = '2026-01-01T00:00:00.000Z';
  const known = {
    chainName: CHAIN_NAME,
    action: 'DELETE_PRISM_FOR',
    signer: account.address,
    createdAt: at,
    updatedAt: at,
  };
  const end = fields.status === 'success' ? { txHash: TX_HASH } : {};
  // Of params no more is looked at.
  return { ...known, requestId, status: 'pending', params: {}, ...end, ...fields } as RequestRecord;
}

const own = (requestId: string, fields: Partial<RequestRecord>) =>
  recordOf(requestId, { claimedBy: account.address, ...fields });
const unavailable = () => Response.json({ error: 'Busy.' }, { status: 503 });

describe('a submit', () => {
  it('asks to be taken once, and again so after a lost answer', async () => {
    const body = { chainName: CHAIN_NAME, action: 'DELETE_PRISM_FOR', params: { signer: account.address } };
    const stored = recordOf('a', body as Partial<RequestRecord>);
    const { calls, gateway } = await serve(({ call }, count) => {
      if (call.startsWith('GET')) return { items: [], count: 0, lastKey: null };
      return count === 1 ? unavailable() : stored;
    });
    // No more of it is looked at here.
    expect(await gateway.submitRequest(body as unknown as SignedBody)).toEqual(stored);
    const posts = calls.filter(({ call }) => call === 'POST /requests');
    expect(posts.map(({ query }) => query)).toEqual([{ once: 'true' }, { once: 'true' }]);
  });
});

describe('many claims at once', () => {
  it('go by their ids, and again where the answer was lost', async () => {
    const items = [own('a', { status: 'processing' })];
    const conflicts = [{ requestId: 'b', status: 'success', reason: 'ended' }];
    const { calls, relayer } = await serve((_, count) =>
      count === 1 ? unavailable() : { items, count: 1, conflicts },
    );
    expect(await relayer.claimRequests({ requestIds: ['a', 'b'] })).toEqual({ items, conflicts });
    const seen = { call: 'POST /requests/claims', query: {}, body: { requestIds: ['a', 'b'] } };
    expect(calls).toEqual([seen, seen]);
  });

  it('are not taken from an answer that is none', async () => {
    const { relayer } = await serve(() => ({ items: [] }));
    const claim = relayer.claimRequests({ requestIds: ['a'] });
    await expect(claim).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  });
});

describe('many reports at once', () => {
  const reports = [
    { requestId: 'a', status: 'success', txHash: TX_HASH },
    { requestId: 'b', status: 'failed', errorMessage: 'reverted' },
    { requestId: 'c', status: 'success', txHash: TX_HASH },
    { requestId: 'd', status: 'success', txHash: TX_HASH },
  ] as const;
  const stored: Readonly<Record<string, RequestRecord>> = {
    '/requests/b': own('b', { status: 'failed', errorMessage: 'reverted' }),
    '/requests/c': own('c', { status: 'success', txHash: `0x${'cd'.repeat(32)}` }),
  };

  it('that were made already are successes; other outcomes and other holders are conflicts', async () => {
    const conflicts = [
      { requestId: 'b', status: 'failed', reason: 'ended' },
      { requestId: 'c', status: 'success', reason: 'ended' },
      { requestId: 'd', status: 'processing', reason: 'claimed' },
    ];
    const first = own('a', { status: 'success', txHash: TX_HASH });
    const { calls, relayer } = await serve(({ call }) =>
      call === 'POST /requests/reports' ? { items: [first], count: 1, conflicts } : stored[call.slice('GET '.length)],
    );
    expect(await relayer.reportRequests(reports)).toEqual({
      items: [first, stored['/requests/b']],
      conflicts: conflicts.slice(1),
    });
    expect(calls[0]?.body).toEqual({ reports });
    // What is still being processed says nothing about this report.
    expect(calls.slice(1).map(({ call }) => call)).toEqual(['GET /requests/b', 'GET /requests/c']);
  });
});

describe('giving a request back', () => {
  it('is done where its answer was lost and the request is pending', async () => {
    const { calls, relayer } = await serve(({ call }) => (call.startsWith('POST') ? unavailable() : recordOf('a')));
    expect(await relayer.releaseRequest('a')).toEqual(recordOf('a'));
    expect(calls.map(({ call }) => call)).toEqual(['GET /requests/a', 'POST /requests/a/release', 'GET /requests/a']);
  });

  it('is a conflict where another holds it', async () => {
    const conflict = () => Response.json({ error: 'It is processing.' }, { status: 409 });
    const { relayer } = await serve(({ call }) => (call.startsWith('POST') ? conflict() : recordOf('a')));
    await expect(relayer.releaseRequest('a')).rejects.toMatchObject({ kind: 'CONFLICT' });
  });
});

describe('the feed', () => {
  it('is followed from its cursor, through pages that are empty and a gateway that is away', async () => {
    const answers: unknown[] = [
      { items: [], count: 0, cursor: 'one' },
      { items: [recordOf('a')], count: 1, cursor: 'two' },
      ...Array.from({ length: 5 }, unavailable),
      { items: [recordOf('b')], count: 1, cursor: 'three' },
    ];
    const { calls, gateway } = await serve((_, count) => answers[count - 1]);
    // It waits a second after an empty page that came at once, by a clock on which it has passed.
    let nowMs = Date.now();
    const transport = { ...gateway.transport, now: () => (nowMs += 1000) };
    const relayer = createRelayerClient({ gateway: { ...gateway, transport }, account });
    const pages: FeedPage[] = [];
    for await (const page of relayer.followFeed({ chainName: CHAIN_NAME, from: 'now' })) {
      if (pages.push(page) === 2) break;
    }
    expect(pages.map(({ items, cursor }) => [items[0]?.requestId, cursor])).toEqual([
      ['a', 'two'],
      ['b', 'three'],
    ]);
    const asked = (seen: string) => ({ chainName: CHAIN_NAME, wait: '24', seen });
    expect(calls.map(({ query }) => query)).toEqual([
      { chainName: CHAIN_NAME, from: 'now', wait: '24' },
      asked('one'),
      ...Array.from({ length: 6 }, () => asked('two')),
    ]);
  });

  it('ends where its follower gives up', async () => {
    const stop = new AbortController();
    const { relayer } = await serve(async () => {
      stop.abort();
      return { items: [], count: 0, cursor: 'one' };
    });
    const feed = relayer.followFeed({ chainName: CHAIN_NAME, signal: stop.signal });
    await expect(feed.next()).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('is an error where a gateway has none', async () => {
    const { relayer } = await serve(() => Response.json({ error: 'feed is no UUID.' }, { status: 400 }));
    const feed = relayer.followFeed({ chainName: CHAIN_NAME });
    await expect(feed.next()).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

describe('waiting', () => {
  it('is done by the gateway: each look but the first names the status that is known', async () => {
    const states = ['pending', 'pending', 'processing', 'success'] as const;
    const { calls, gateway } = await serve((_, count) => recordOf('a', { status: states[count - 1]! }));
    const reported: string[] = [];
    const onStatus = ({ status }: RequestRecord) => reported.push(status);
    expect((await gateway.waitForRequest('a', { pollIntervalMs: 1, onStatus })).status).toBe('success');
    expect(reported).toEqual(['pending', 'processing', 'success']);
    const [first, ...later] = calls.map(({ query }) => query);
    expect(first).toEqual({});
    const waiting = { wait: '24' };
    expect(later).toEqual([
      { seen: 'pending', ...waiting },
      { seen: 'pending', ...waiting },
      { seen: 'processing', ...waiting },
    ]);
  });

  it('goes on behind a page that is in front of the gateway for a while', async () => {
    const page = () => new Response('<h1>Back soon</h1>', { headers: { 'content-type': 'text/html' } });
    const { gateway } = await serve((_, count) =>
      count === 2 || count === 3 ? page() : recordOf('a', { status: count === 1 ? 'pending' : 'success' }),
    );
    expect((await gateway.waitForRequest('a', { pollIntervalMs: 1 })).status).toBe('success');
  });

  it('leaves connections for what does not wait', async () => {
    const held = Promise.withResolvers<void>();
    const { calls, gateway } = await serve(async ({ call, query }) => {
      if ('wait' in query) await held.promise;
      const isEnded = 'wait' in query || calls.filter((seen) => seen.call === call).length > 3;
      if (isEnded) held.resolve();
      return recordOf(call.slice(-1), { status: isEnded ? 'success' : 'pending' });
    });
    // As in a browser, whose connections to a host are few.
    Object.assign(gateway.transport.waits, { most: 1 });
    await gateway.waitForRequests(['a', 'b'], { pollIntervalMs: 1 });
    const waits = calls.filter(({ query }) => 'wait' in query).map(({ call }) => call);
    expect(new Set(waits).size).toBe(1);
    expect(calls.length).toBeGreaterThan(4);
  });
});
