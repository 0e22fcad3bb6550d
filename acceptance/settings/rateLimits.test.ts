import { serviceSchema } from '@prism-gateway/protocol';
import { beforeAll, beforeEach, describe, expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { callAsRelayer } from '../rig/callAsRelayer.ts';
import { covers } from '../rig/covers.ts';
import { eventually } from '../rig/eventually.ts';
import type { HttpRequest, HttpResponse } from '../rig/httpMessage.ts';
import { sign } from '../rig/objects.ts';
import { randomHex } from '../rig/randomHex.ts';
import { readRecord, writeBody } from '../rig/requests.ts';
import { startOwn, startShared } from '../rig/startOwn.ts';
import { relayerAt, type Target } from '../rig/target.ts';
import { issueToken } from '../rig/tokens.ts';

const seen = { seesLimit: true } as const;
const read = (target: Target, over: Partial<HttpRequest> = {}) =>
  callApi(target, { path: '/requests', query: { signer: randomHex(20) }, ...seen, ...over });
const write = (target: Target, over: Partial<HttpRequest> = {}) =>
  callApi(target, { method: 'POST', path: '/requests', json: {}, ...seen, ...over });

/** Makes calls until a limit is spent, and one more. @returns their statuses, and the last answer */
async function spend(times: number, call: () => Promise<HttpResponse>) {
  const statuses: number[] = [];
  let last = await call();
  for (statuses.push(last.status); statuses.length < times + 1; statuses.push(last.status)) last = await call();
  return { statuses, last };
}

/** Each test of these is a client of its own: the one proxy of the gateway that they share says so. */
describe('where a proxy names the client', () => {
  const env = {
    TRUSTED_PROXY_HOPS: '1',
    ALLOW_DEV_IN_PUBLIC: 'true',
    RATE_LIMIT_WRITES: '4',
    RATE_LIMIT_WRITE_BYTES: '3000',
    RATE_LIMIT_READS: '2',
    RATE_LIMIT_SIGN: '2',
    RATE_LIMIT_CLAIMS: '5',
    RATE_LIMIT_REPORTS: '2',
    RATE_LIMIT_AUTH_FAILURES: '3',
    RATE_LIMIT_ADMIN_FAILURES: '1',
  };
  let target: Target;
  let client: { readonly headers: { readonly 'x-forwarded-for': string } };
  let clients = 0;
  beforeAll(async () => {
    const shared = await startShared({ env, relayerCount: 4 });
    target = shared.target;
    return shared.stop;
  });
  beforeEach(() => {
    client = { headers: { 'x-forwarded-for': `192.0.2.${++clients}` } };
  });
  const post = (over: Partial<HttpRequest> = {}) => write(target, { ...client, ...over });
  const submit = async () => readRecord(await post({ json: writeBody(target) }));
  const actAs = (place: number, call: HttpRequest) =>
    callAsRelayer(target, { ...client, ...call, relayer: relayerAt(target, place), ...seen });

  covers(
    ['createRequest.429', 'limit.retryAfter', 'limit.headers'],
    'what is over the limit is 429, with Retry-After and what is left',
    async () => {
      const answer = await post();
      expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([400, '"writes";q=4;w=60']);
      expect(answer.headers.get('ratelimit')).toMatch(/^"writes";r=3;t=\d+$/);
      for (const left of [2, 1, 0]) expect((await post()).headers.get('ratelimit')).toContain(`;r=${left};`);
      const refused = await post();
      expect(refused.status).toBe(429);
      expect(refused.headers.get('ratelimit')).toMatch(/^"writes";r=0;t=\d+$/);
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(120);
    },
  );

  covers(
    ['updateRequest.429', 'limit.failures', 'limit.client'],
    'a relayer works on behind the address of a peer that floods, with calls and with bad signatures',
    async () => {
      const path = `/requests/${(await submit()).requestId}`;
      const act = (json: object) => actAs(0, { method: 'PATCH', path, json });
      expect((await act({ status: 'processing' })).status).toBe(200);
      expect((await spend(3, post)).statuses).toEqual([400, 400, 400, 429]);
      const forge = () => post({ method: 'PATCH', path });
      expect((await spend(3, forge)).statuses).toEqual([401, 401, 401, 429]);
      expect((await act({ status: 'failed', errorMessage: 'no gas' })).status).toBe(200);
    },
  );

  covers(['limit.batch'], 'a batch counts each of its requests', async () => {
    const ids = [await submit(), await submit(), await submit()].map(({ requestId }) => requestId);
    const claim = () => actAs(1, { method: 'POST', path: '/requests/claims', json: { requestIds: ids } });
    const claimed = await claim();
    expect([claimed.status, claimed.headers.get('ratelimit')]).toEqual([200, expect.stringMatching(/^"claims";r=2;/)]);
    expect((await claim()).status).toBe(429);
    const report = (some: readonly string[]) => {
      const reports = some.map((requestId) => ({ requestId, status: 'failed', errorMessage: 'no gas' }));
      return actAs(1, { method: 'POST', path: '/requests/reports', json: { reports } });
    };
    expect([(await report(ids.slice(0, 2))).status, (await report(ids.slice(2))).status]).toEqual([200, 429]);
  });

  covers(['createRequest.429', 'limit.bytes'], 'the bytes that a peer posts without a key are limited', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await post({ json: { text: 'x'.repeat(1200) } })).status);
    expect(statuses).toEqual([400, 400, 429]);
    expect((await read(target, client)).status).toBe(200);
  });

  covers(['signStorage.429', 'limit.classes', 'limit.client'], 'signing counts by itself, for each user', async () => {
    const [alice, bob] = [await issueToken(target, 'alice'), await issueToken(target, 'bob')];
    const ask = (token: string) => {
      const headers = { ...client.headers, authorization: `Bearer ${token}` };
      const json = { projectId: randomHex(16), key: randomHex(32), operation: 'get' };
      return callApi(target, { method: 'POST', path: '/storage/sign', headers, json, ...seen });
    };
    expect((await spend(2, () => ask(alice))).statuses).toEqual([200, 200, 429]);
    expect((await ask(await issueToken(target, 'alice'))).status, 'another token of the same user').toBe(429);
    expect((await ask(bob)).status).toBe(200);
    expect((await post()).status).toBe(400);
  });

  covers(['limit.client'], 'a relayer is counted by itself, whoever shares its address', async () => {
    const { requestId } = await submit();
    const claim = (place: number) =>
      actAs(place, { method: 'PATCH', path: `/requests/${requestId}`, json: { status: 'processing' } });
    expect((await spend(5, () => claim(2))).statuses).toEqual([200, 409, 409, 409, 409, 429]);
    expect((await claim(3)).status).toBe(409);
    expect((await post()).status, 'the peer has its own count').toBe(400);
  });

  covers(
    ['order.limitBeforeSize', 'order.preflightBeforeLimit', 'order.routeFirst'],
    '429 wins over 413, 415, 401 and 400; 404, 405 and a preflight win over 429',
    async () => {
      expect((await spend(4, post)).statuses).toEqual([400, 400, 400, 400, 429]);
      const forge = { method: 'PATCH', path: `/requests/${crypto.randomUUID()}` };
      expect((await spend(3, () => post(forge))).statuses).toEqual([401, 401, 401, 429]);
      expect((await spend(1, () => post({ path: '/admin/relayers' }))).statuses).toEqual([401, 429]);
      const large = ' '.repeat(target.maxBodyBytes + 1);
      for (const [method, path] of [
        ['POST', '/requests'],
        ['PATCH', `/requests/${crypto.randomUUID()}`],
        ['POST', '/admin/relayers'],
      ] as const) {
        const bodies = [
          { body: large },
          { body: large, contentType: 'text/plain' },
          { body: 'x', contentType: 'text/plain' },
          { body: '{' },
        ];
        for (const body of bodies) {
          const { status } = await callApi(target, { ...client, method, path, ...body, ...seen });
          expect([path, status]).toEqual([path, 429]);
        }
      }
      expect((await post({ path: '/nothing' })).status).toBe(404);
      expect((await post({ method: 'PUT' })).status).toBe(405);
      expect((await post({ method: 'OPTIONS' })).status).toBe(204);
    },
  );

  covers(
    ['limit.proxy', 'limit.client'],
    'behind one proxy, the client is the last address of X-Forwarded-For',
    async () => {
      const from = (forwarded: string) => read(target, { headers: { 'x-forwarded-for': forwarded } });
      expect((await spend(2, () => from('203.0.113.1'))).statuses).toEqual([200, 200, 429]);
      // What stands further left is the client's own word.
      expect((await from('198.51.100.7, 203.0.113.1')).status).toBe(429);
      expect((await from('203.0.113.1, 203.0.113.2')).status).toBe(200);
      expect((await spend(2, () => from('2001:db8:1:2::1'))).statuses).toEqual([200, 200, 429]);
      expect((await from('2001:DB8:1:2:ffff:0:0:9')).status, 'the same /64').toBe(429);
      expect((await from('2001:db8:1:3::1')).status).toBe(200);
    },
  );
});

covers(
  [
    'addRelayer.429',
    'removeRelayer.429',
    'createRequest.429',
    'releaseClaim.429',
    'failRequest.429',
    'purgeRequest.429',
    'limit.classes',
    'limit.proxy',
  ],
  'POST, PATCH and DELETE of a client share the limit of writes, whatever it says of itself; reads, signing and administrators go on',
  async () => {
    const { target } = await startOwn({
      env: { RATE_LIMIT_WRITES: '2', RATE_LIMIT_READS: '50', RATE_LIMIT_SIGN: '50' },
    });
    let place = 0;
    // No proxy is trusted, so that none of these names a client.
    const forwarded = () => {
      const address = `203.0.113.${++place}`;
      return { 'x-forwarded-for': address, forwarded: `for=${address}`, 'x-real-ip': address };
    };
    expect((await spend(2, () => write(target, { headers: forwarded() }))).statuses).toEqual([400, 400, 429]);
    const headers = { 'x-admin-key': target.adminKey };
    const address = randomHex(20);
    const add = () => callApi(target, { method: 'POST', path: '/admin/relayers', json: { address }, headers, ...seen });
    const remove = () => callApi(target, { method: 'DELETE', path: `/admin/relayers/${address}`, headers, ...seen });
    expect([await add(), await remove(), await remove(), await add()].map(({ status }) => status)).toEqual([
      201, 200, 429, 429,
    ]);
    const path = `/admin/requests/${crypto.randomUUID()}`;
    const acts: HttpRequest[] = [
      { method: 'POST', path: `${path}/release` },
      { method: 'POST', path: `${path}/fail`, json: {} },
      { method: 'DELETE', path },
    ];
    for (const act of acts) expect((await callApi(target, { ...act, headers, ...seen })).status).toBe(429);
    expect((await read(target)).status).toBe(200);
    const token = await issueToken(target, 'alice');
    const json = { projectId: randomHex(16), key: randomHex(32), operation: 'get' };
    expect((await sign(target, { token, json })).status).toBe(200);
  },
);

covers(
  [
    'listRequests.429',
    'readRequest.429',
    'listRelayers.429',
    'listAllRequests.429',
    'readStats.429',
    'listActs.429',
    'readService.200',
    'readService.429',
    'limit.classes',
  ],
  'all GETs of a client share the limit of reads',
  async () => {
    const { target } = await startOwn({ env: { RATE_LIMIT_READS: '3' } });
    // One was taken by the look at its clock.
    expect((await spend(2, () => read(target))).statuses).toEqual([200, 200, 429]);
    expect((await callApi(target, { path: `/requests/${crypto.randomUUID()}`, ...seen })).status).toBe(429);
    const headers = { 'x-admin-key': target.adminKey };
    // The administrator sees who is at a limit, and how often it has refused.
    const reported = serviceSchema.parse((await callApi(target, { path: '/admin/service', headers, ...seen })).body);
    expect(reported.clients[0]).toMatchObject({ limit: 'reads', used: 3, most: 3 });
    expect(reported.clients).toContainEqual({ limit: 'reads', client: 'admin', used: 1, most: 3 });
    expect(reported.refusals).toMatchObject([{ limit: 'reads', lastHour: 2 }]);
    expect(Date.parse(reported.since)).toBeLessThanOrEqual(Date.now());
    const list = () => callApi(target, { path: '/admin/relayers', headers, ...seen });
    expect((await spend(2, list)).statuses).toEqual([200, 200, 429]);
    for (const part of ['requests', 'stats', 'audit', 'service']) {
      const path = `/admin/${part}`;
      expect((await callApi(target, { path, headers, ...seen })).status).toBe(429);
    }
    expect((await write(target)).status).toBe(400);
    // On a loaded machine the store may take longer than readiness waits for it.
    for (const path of ['/health', '/ready']) {
      await eventually(async () => expect((await callApi(target, { path })).status).toBe(200));
    }
  },
);

covers(
  ['limit.adminFailures', 'addRelayer.401', 'listRelayers.429'],
  'after too many wrong keys the right one is refused too',
  async () => {
    const { target } = await startOwn({ env: { RATE_LIMIT_ADMIN_FAILURES: '3' } });
    const list = (key: string) =>
      callApi(target, { path: '/admin/relayers', headers: { 'x-admin-key': key }, ...seen });
    for (let turn = 0; turn < 10; turn++)
      expect((await list(target.adminKey)).status, 'the right key is no failure').toBe(200);
    const { statuses, last } = await spend(3, () => list('wrong'));
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await list(target.adminKey)).status).toBe(429);
    const json = { address: randomHex(20) };
    const headers = { 'x-admin-key': target.adminKey };
    expect((await callApi(target, { method: 'POST', path: '/admin/relayers', json, headers, ...seen })).status).toBe(
      429,
    );
    expect((await read(target)).status).toBe(200);
  },
);

covers(['limit.off'], '0 is off: no header, no limit', async () => {
  const { target } = await startOwn({ env: { RATE_LIMIT_READS: '0', RATE_LIMIT_ADMIN_FAILURES: '0' } });
  const answers = await Promise.all(Array.from({ length: 60 }, () => read(target)));
  expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get('ratelimit')}`))).toEqual(
    new Set(['200 null']),
  );
  const wrong = { path: '/admin/relayers', headers: { 'x-admin-key': 'wrong' }, ...seen };
  const failures = await Promise.all(Array.from({ length: 30 }, () => callApi(target, wrong)));
  expect(new Set(failures.map(({ status }) => status))).toEqual(new Set([401]));
});

covers(['limit.readBytes'], 'large answers without a key count by their bytes, small ones do not', async () => {
  const { target } = await startOwn({ env: { RATE_LIMIT_READ_BYTES: '50000' } });
  const post = async (payload: string) =>
    readRecord(await write(target, { json: writeBody(target, { params: { payload } }) })).requestId;
  const [large, small] = [await post(`0x${'ab'.repeat(10_000)}`), await post('0xab')];
  const get = (requestId: string) => callApi(target, { path: `/requests/${requestId}`, ...seen });
  const answers = await Promise.all(Array.from({ length: 40 }, () => get(small)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const { statuses, last } = await spend(2, () => get(large));
  expect(statuses).toEqual([200, 200, 429]);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
});
