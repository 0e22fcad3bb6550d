import { createRelayerAuthMessage } from '@prism-gateway/protocol';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type RunningGateway, startGateway } from '@prism-gateway/testing';
import { keccak256, toBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RELAYER_KEYS } from '../rigs/documentedGateway.ts';

const ADMIN_KEY = 'the-administrators-key-in-no-log';
const QUERY_SECRET = 'text-of-a-query-in-no-log';
const BODY_SECRET = `0x${'5ec4e7'.repeat(8)}`;

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'debug' } });
});
afterAll(() => gateway.kill());

interface Reported {
  readonly status: number;
  readonly value: object;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reported> {
  const text = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, value: Object(await response.json()) };
}

async function callAsRelayer(
  method: string,
  path: string,
  body?: unknown,
): Promise<Reported & { readonly signature: string }> {
  const account = privateKeyToAccount(RELAYER_KEYS.first);
  const timestamp = String(Date.now());
  const bodyHash = keccak256(toBytes(body === undefined ? '' : JSON.stringify(body)));
  const [route = ''] = path.split('?');
  const signature = await account.signMessage({
    message: createRelayerAuthMessage({ timestamp, method, path: route, bodyHash }),
  });
  const headers = {
    'x-relayer-address': account.address,
    'x-relayer-timestamp': timestamp,
    'x-relayer-signature': signature,
  };
  return { ...(await call(method, path, body, headers)), signature };
}

// Shows OPERATE-3.
test('the log is JSON lines with request ids, and holds no secret; the metrics count what happened', async () => {
  const mine = { 'x-request-id': 'my-own-id' };
  const relayer = { address: privateKeyToAccount(RELAYER_KEYS.first).address };
  expect(await call('POST', '/admin/relayers', relayer, { 'x-admin-key': ADMIN_KEY, ...mine })).toMatchObject({
    status: 201,
  });
  const { value: tokenAnswer } = await call('POST', '/dev/identity/token', { sub: 'alice' });
  const token = String(Reflect.get(tokenAnswer, 'access_token'));
  const order = { projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}`, operation: 'get' };
  const signed = await call('POST', '/storage/sign', order, { authorization: `Bearer ${token}` });
  const url = new URL(String(Reflect.get(signed.value, 'url')));
  await fetch(url);
  const request = structuredClone(EXAMPLE_REQUESTS.WRITE_DATA_FOR);
  const created = await call('POST', '/requests', { ...request, params: { ...request.params, payload: BODY_SECRET } });
  const path = `/requests/${Reflect.get(created.value, 'requestId')}`;
  await call('POST', '/requests', request);
  const won = await callAsRelayer('PATCH', path, { status: 'processing' });
  const lost = await callAsRelayer('PATCH', path, { status: 'processing' });
  expect([won.status, lost.status]).toEqual([200, 409]);
  await call('GET', `/requests?signer=${QUERY_SECRET}`);
  await call('GET', `/nowhere/${QUERY_SECRET}?${QUERY_SECRET}`);
  await call('POST', '/storage/sign', order, { authorization: `Bearer ${token}x` });
  await call('GET', '/admin/relayers', undefined, { 'x-admin-key': `${ADMIN_KEY}x` });

  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('prism_claims_total{result="won"} 1\n');
  expect(metrics).toContain('prism_claims_total{result="lost"} 1\n');
  expect(metrics).toContain('prism_http_requests_total{method="PATCH",route="/requests/{requestId}",status="409"} 1\n');
  expect(metrics).toMatch(/prism_http_request_seconds_count\{method="POST",route="\/requests"\} 2\n/);
  expect(metrics).toContain('prism_requests{status="pending"} 1\n');
  expect(metrics).toContain('prism_requests{status="processing"} 1\n');
  expect(Number(/^prism_oldest_pending_seconds (.+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  const ofChain = new RegExp(`^prism_oldest_pending_seconds\\{chain="${request.chainName}"\\} (.+)$`, 'm');
  expect(Number(ofChain.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(metrics).not.toContain(QUERY_SECRET);

  expect(await gateway.stop()).toBe(0);
  const from = gateway.output.findIndex((line) => line.startsWith('{'));
  const lines = gateway.output.slice(from).map((line) => Object(JSON.parse(line)));
  const answered = lines.filter(({ msg }) => msg === 'request');
  expect(answered.length).toBeGreaterThanOrEqual(13);
  for (const { requestId, method, route, status, ms } of answered) {
    expect([requestId, method, route, status, ms].map((value) => typeof value)).toEqual([
      'string',
      'string',
      'string',
      'number',
      'number',
    ]);
  }
  expect(answered.map(({ requestId }) => requestId)).toContain('my-own-id');
  expect(new Set(answered.map(({ requestId }) => requestId)).size).toBe(answered.length);
  const log = gateway.output.join('\n');
  const secrets = [ADMIN_KEY, token, won.signature, lost.signature, BODY_SECRET, QUERY_SECRET, url.search.slice(1)];
  for (const secret of secrets) expect(log).not.toContain(secret);
});
